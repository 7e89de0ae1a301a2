package tasks_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

func TestCoalescing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner()
		e := newEngine(t, r)
		stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
		j := r.next(t).start()
		expect := func(lines ...string) {
			t.Helper()
			synctest.Wait()
			want := append([]string{"task submitted", "status working"}, lines...)
			if diff := cmp.Diff(strings.Join(want, "\n"), showAll(stream.seen())); diff != "" {
				t.Fatalf("stream (-want +got):\n%s", diff)
			}
		}
		j.say("a", "11")
		expect(`new a "1"`) // the first piece does not wait; its last character does, for the end
		j.say("a", "22")
		j.say("a", "33")
		time.Sleep(19 * time.Millisecond)
		expect(`new a "1"`)
		time.Sleep(time.Millisecond)
		expect(`new a "1"`, `add a "1223"`)
		time.Sleep(time.Second)
		j.say("a", "44") // after a pause nothing waits
		expect(`new a "1"`, `add a "1223"`, `add a "34"`)
		j.say("a", "55")
		j.say("b", "xx") // nor does the first piece of another message
		expect(`new a "1"`, `add a "1223"`, `add a "34"`, `new b "x"`)
		j.whole("a", "1122334455", "")
		expect(`new a "1"`, `add a "1223"`, `add a "34"`, `new b "x"`, `add a "455" last`)
		j.say("b", "yy")
		j.end(agent.Ended{Outcome: agent.Completed}) // with the timer armed
		expect(`new a "1"`, `add a "1223"`, `add a "34"`, `new b "x"`, `add a "455" last`, `add b "xyy" last`, "status completed")
		stream.wait(t)
	})
}

// wantStream checks the events of a turn that completes; between is what comes before that,
// once it works, with bars between the lines.
func wantStream(t testing.TB, events []a2a.Event, between string) {
	t.Helper()
	want := "task submitted\nstatus working\n" + strings.ReplaceAll(between, "|", "\n") + "\nstatus completed"
	if diff := cmp.Diff(strings.ReplaceAll(want, "\n\n", "\n"), showAll(events)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestRepair(t *testing.T) {
	say := func(text string) func(*job) { return func(j *job) { j.say("a", text) } }
	whole := func(text string) func(*job) { return func(j *job) { j.whole("a", text, "") } }
	end := func(text string) func(*job) {
		return func(j *job) {
			var m []agent.Message
			if text != "" {
				m = []agent.Message{{ItemID: "a", Text: text}}
			}
			j.end(agent.Ended{Outcome: agent.Completed, Messages: m})
		}
	}
	begun := func(j *job) {
		j.observe(agent.ItemStarted{Item: agent.Item{Kind: agent.KindMessage, ID: "a"}})
	}
	cases := map[string]struct {
		steps  []func(*job)
		stream string // after working
		text   string
	}{
		"as-streamed":         {[]func(*job){say("hello"), whole("hello"), end("hello")}, `new a "hell"|add a "o" last`, "hello"},
		"end-missing":         {[]func(*job){say("hel"), whole("hello"), end("hello")}, `new a "he"|add a "llo" last`, "hello"},
		"middle-missing":      {[]func(*job){say("hlo"), whole("hello"), end("hello")}, `new a "hl"|new a "hello" last`, "hello"},
		"never-streamed":      {[]func(*job){whole("hello"), end("hello")}, `new a "hello" last`, "hello"},
		"only-at-the-end":     {[]func(*job){end("hello")}, `new a "hello" last`, "hello"},
		"end-corrects":        {[]func(*job){whole("hell"), end("hello")}, `new a "hell" last|add a "o" last`, "hello"},
		"end-replaces":        {[]func(*job){whole("jello"), end("hello")}, `new a "jello" last|new a "hello" last`, "hello"},
		"never-whole":         {[]func(*job){say("hel"), end("")}, `new a "he"|add a "l" last`, "hel"},
		"empty-when-whole":    {[]func(*job){say("hel"), whole(""), end("")}, `new a "he"|add a "l" last`, "hel"},
		"one-character":       {[]func(*job){say("h"), whole("h"), end("h")}, `new a "h" last`, "h"},
		"blank-end":           {[]func(*job){say("hi \n"), say("\n"), whole("hi \n\n"), end("hi \n\n")}, `new a "h"|add a "i \n\n" last`, "hi \n\n"},
		"wide-end":            {[]func(*job){say("añ"), whole("añ"), end("añ")}, `new a "a"|add a "ñ" last`, "añ"},
		"empty":               {[]func(*job){begun, whole(""), end("")}, ``, ""},
		"late-piece":          {[]func(*job){say("hello"), whole("hello"), say("x"), end("hello")}, `new a "hell"|add a "o" last`, "hello"},
		"begun-then-streamed": {[]func(*job){begun, say("hello"), whole("hello"), end("hello")}, `new a "hell"|add a "o" last`, "hello"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
			j := r.next(t).start()
			for _, step := range c.steps {
				step(j)
			}
			events := stream.wait(t)
			wantStream(t, events, c.stream)
			task := get(t, e, events[0].TaskInfo().TaskID)
			if got := content(task)["a"]; got != c.text {
				t.Errorf("the artifact is %q, want %q", got, c.text)
			}
			if c.text == "" && task.Status.Message.Parts[0].Text() != "(codex returned empty output)" {
				t.Errorf("the final status = %+v, want it to say that there is nothing", task.Status.Message)
			}
		})
	}
}

func TestItemIDsThatComeAgain(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	follow := request("m2", "", "more")
	follow.Message.TaskID = task.ID
	begin(t, e, follow)
	begun := agent.ItemStarted{Item: agent.Item{Kind: agent.KindMessage, ID: "a"}}
	j := r.next(t).start()
	j.whole("a", "one", "")
	j.observe(begun)
	j.whole("a", "two", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	j = r.next(t).start()
	j.whole("a", "three", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	want := []string{`a="one"`, `a-2="two"`, `a-3="three"`}
	if diff := cmp.Diff(want, texts(get(t, e, task.ID))); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
}

// TestSubscribersMissNothing lets readers join at random moments of a turn. What
// each of them makes of its snapshot and its events must be the task in the end.
func TestSubscribersMissNothing(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r, func(c *tasks.Config) { c.Coalesce = 100 * time.Microsecond })
			task := begin(t, e, request("m1", "c", "hi"))
			j := r.next(t).start()
			var wg sync.WaitGroup
			var mu sync.Mutex
			var all []*listener
			for range 8 {
				wg.Go(func() {
					time.Sleep(time.Duration(rand.N(5000)) * time.Microsecond)
					l := listen(e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}))
					for len(l.seen()) == 0 { // until it has joined
						time.Sleep(10 * time.Microsecond)
					}
					mu.Lock()
					defer mu.Unlock()
					all = append(all, l)
				})
			}
			wander(j, rand.New(rand.NewPCG(seed, 1)))
			wg.Wait()
			j.end(agent.Ended{Outcome: agent.Completed, Diff: "+x"})
			want := content(get(t, e, task.ID))
			for _, l := range all {
				events := l.wait(t)
				if l.err != nil {
					t.Errorf("stream: %v", l.err)
					continue
				}
				if diff := cmp.Diff(want, fold(t, events)); diff != "" {
					t.Errorf("a reader that joined at %q (-want +got):\n%s", show(events[0]), diff)
				}
			}
		})
	}
}

// wander plays a turn of some milliseconds.
func wander(j *job, random *rand.Rand) {
	text := map[string]string{}
	for i := range 400 {
		id := fmt.Sprintf("item-%d", random.IntN(4)+4*(i/100))
		switch random.IntN(12) {
		case 0:
			j.whole(id, text[id]+"!", "")
		case 1:
			j.whole(id, "other"+text[id], "")
		case 2:
			time.Sleep(time.Duration(random.IntN(200)) * time.Microsecond)
		default:
			piece := fmt.Sprintf("%d,", i)
			text[id] += piece
			j.say(id, piece)
		}
	}
}

func TestSubscribe(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	wantError(t, refused(t, e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "nope"})), a2a.ErrTaskNotFound, "nope")
	wantError(t, refused(t, e.SubscribeToTask(t.Context(), nil)), a2a.ErrInvalidParams, "missing")
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.say("a", "hel")
	watcher := follow(t, e, task.ID)
	j.whole("a", "hello", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	want := `task working a="he"` + "\n" + `add a "llo" last` + "\nstatus completed"
	if diff := cmp.Diff(want, showAll(watcher.wait(t))); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
	wantError(t, refused(t, e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID})), a2a.ErrUnsupportedOperation, "has ended")
}

func TestProgress(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := r.next(t).start()
	code := 3
	command := agent.Item{Kind: agent.KindCommand, ID: "x", Command: "make", Cwd: "/w", Status: "inProgress"}
	j.observe(agent.ItemStarted{Item: command})
	command.Status, command.ExitCode, command.DurationMs = "failed", &code, 12
	command.Output = strings.Repeat("é", 300_000/2)
	j.observe(agent.ItemCompleted{Item: command})
	change := agent.Item{Kind: agent.KindFileChange, ID: "f", Status: "completed", Changes: make([]agent.Change, 150)}
	j.observe(agent.ItemCompleted{Item: change})
	j.observe(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindMCP, ID: "t", Server: "s", Tool: "do"}})
	j.observe(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindOther, Name: "brandNew", ID: "n"}})
	j.observe(agent.PlanUpdated{Explanation: "why", Steps: []agent.PlanStep{{Step: "one", Status: "pending"}}})
	j.observe(agent.ReasoningDelta{ItemID: "r1", Text: "I "})
	j.observe(agent.ReasoningDelta{ItemID: "r1", Text: "think"})
	j.observe(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindReasoning, ID: "r1"}})
	j.observe(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindReasoning, ID: "r2", Summary: []string{"so", "on"}}})
	j.observe(agent.Notice{Text: "retrying"})
	j.answer("done")
	var got []map[string]any
	events := stream.wait(t)
	for _, event := range events {
		update, ok := event.(*a2a.TaskStatusUpdateEvent)
		if ok && update.Status.Message != nil && update.Status.Message.Parts[0].Data() != nil {
			if update.Status.State != a2a.TaskStateWorking {
				t.Errorf("progress in state %s", update.Status.State)
			}
			got = append(got, update.Status.Message.Parts[0].Data().(map[string]any))
		}
	}
	if n := len(got[1]["outputTail"].(string)); n > 2048 || n < 2046 {
		t.Errorf("the tail of the output has %d bytes", n)
	}
	if n := len(got[2]["changes"].([]any)); n != 100 || got[2]["more"] != 50 {
		t.Errorf("%d changes and %v more", n, got[2]["more"])
	}
	delete(got[1], "outputTail")
	delete(got[2], "changes")
	want := []map[string]any{
		{"type": "command", "id": "x", "status": "inProgress", "command": "make", "cwd": "/w"},
		{"type": "command", "id": "x", "status": "failed", "command": "make", "cwd": "/w", "exitCode": 3, "durationMs": int64(12)},
		{"type": "fileChange", "id": "f", "status": "completed", "more": 50},
		{"type": "tool", "id": "t", "status": "completed", "server": "s", "tool": "do"},
		{"type": "item", "id": "n", "status": "completed", "item": "brandNew"},
		{"type": "plan", "explanation": "why", "steps": []any{map[string]any{"step": "one", "status": "pending"}}},
		{"type": "reasoning", "id": "r1", "text": "I think"},
		{"type": "reasoning", "id": "r2", "text": "so\n\non"},
		{"type": "notice", "text": "retrying"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	task := get(t, e, events[0].TaskInfo().TaskID)
	if len(task.History) != 1 || len(task.Artifacts) != 1 {
		t.Errorf("the task keeps progress: %d messages, %d artifacts", len(task.History), len(task.Artifacts))
	}
}

// TestStalledReaders opens streams that nobody reads on. The turn must not wait,
// nor the readers beside them; what they have not read they get when they go on.
func TestStalledReaders(t *testing.T) {
	longtest.Mark(t)
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Coalesce = time.Nanosecond }) // each delta an event
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	goOn := make(chan struct{})
	var slow []*listener
	entered := make(chan struct{}, 8)
	for range 8 {
		stream := e.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID})
		slow = append(slow, listen(func(yield func(a2a.Event, error) bool) {
			stream(func(event a2a.Event, err error) bool {
				if _, first := event.(*a2a.Task); first {
					entered <- struct{}{}
					<-goOn
				}
				return yield(event, err)
			})
		}))
		<-entered
	}
	quick := follow(t, e, task.ID)
	const deltas = 60_000
	began := time.Now()
	for i := range deltas {
		j.say("a", fmt.Sprintf("%d ", i))
	}
	j.end(agent.Ended{Outcome: agent.Completed})
	t.Logf("%d deltas beside stalled readers took %s", deltas, time.Since(began))
	want := content(get(t, e, task.ID))
	if !maps.Equal(want, fold(t, quick.wait(t))) {
		t.Error("the reader beside the stalled ones has another text")
	}
	close(goOn)
	for _, l := range slow {
		if !maps.Equal(want, fold(t, l.wait(t))) {
			t.Error("a reader that was stalled has another text")
		}
	}
}

// TestMemoryIsLinear: ten times the text takes ten times the memory, with
// somebody who looks at the task now and then.
func TestMemoryIsLinear(t *testing.T) {
	longtest.Mark(t)
	allocated := func(deltas int) uint64 {
		r := newRunner()
		e := newEngine(t, r, func(c *tasks.Config) { c.Coalesce = time.Nanosecond })
		task := begin(t, e, request("m1", "c", "hi"))
		j := r.next(t).start()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range deltas {
			j.say("a", "some words of a text ")
			if i%10 == 0 {
				get(t, e, task.ID)
			}
		}
		j.end(agent.Ended{Outcome: agent.Completed})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(6_000), allocated(60_000)
	t.Logf("6,000 deltas took %d bytes, 60,000 took %d", few, many)
	if many > 20*few {
		t.Errorf("6,000 deltas took %d bytes, 60,000 took %d", few, many)
	}
}

// TestTimerEndsWithItsTurn: nothing is left to wait for once the turn has ended.
func TestTimerEndsWithItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner()
		e := newEngine(t, r, func(c *tasks.Config) { c.Coalesce = time.Hour })
		begin(t, e, request("m1", "c", "hi"))
		j := r.next(t).start()
		j.say("a", "1")
		j.say("a", "2")
		j.answer("done")
		began := time.Now()
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("closing took %s", took)
		}
	})
}
