package tasks_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// answerWithChanges is a turn with a tool, a diff and an answer in pieces.
func answerWithChanges(j *job) {
	j.start()
	j.observe(tool("cmd"))
	j.observe(agent.DiffUpdated{Diff: "+a\n"})
	j.say("f", "it is ")
	j.say("f", "done")
	j.whole("f", "it is done", "")
	j.end(agent.Ended{Outcome: agent.Completed, Diff: "+a\n", Tools: true})
}

// TestAcceptedOutputModes: progress and the diff are for those who take them, and a text
// comes in pieces to those who take text.
func TestAcceptedOutputModes(t *testing.T) {
	const (
		start    = "task submitted|status working|"
		progress = `progress command|`
		diff     = `new diff "+a\n" last|`
		pieces   = `new f "it i"|add f "s done" last|`
		whole    = `new f "it is done" last|`
		end      = "status completed"
	)
	cases := map[string]struct {
		modes []string
		want  string
	}{
		"none":          {nil, start + progress + diff + pieces + end},
		"empty":         {[]string{}, start + progress + diff + pieces + end},
		"all":           {[]string{"*/*"}, start + progress + diff + pieces + end},
		"text":          {[]string{"text/plain"}, start + pieces + end},
		"text-and-diff": {[]string{"text/plain; charset=utf-8", "Text/X-Diff"}, start + diff + pieces + end},
		"text-and-json": {[]string{"text/plain", "application/json"}, start + progress + pieces + end},
		"kinds":         {[]string{"text/*", "application/*"}, start + progress + diff + pieces + end},
		"earlier-names": {[]string{"text"}, start + diff + pieces + end},
		"json-only":     {[]string{"application/json"}, start + progress + whole + end},
		"pictures-only": {[]string{"image/png"}, start + whole + end},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			req := request("m", "c", "hi")
			req.Config = &a2a.SendMessageConfig{AcceptedOutputModes: c.modes}
			stream := listen(e.SendStreamingMessage(t.Context(), req))
			answerWithChanges(r.next(t))
			events := stream.wait(t)
			shown := strings.ReplaceAll(showAll(events), "add f \"s don\"\nadd f \"e\"", "add f \"s done\"") // on a busy machine it comes in two
			if diff := cmp.Diff(strings.ReplaceAll(c.want, "|", "\n"), shown); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
			blocking, err := e.SendMessage(t.Context(), req) // the same message again
			if err != nil {
				t.Fatal(err)
			}
			want := []string{`f="it is done"`}
			if strings.Contains(c.want, diff) {
				want = []string{`diff="+a\n"`, `f="it is done"`}
			}
			if diff := cmp.Diff(want, texts(blocking.(*a2a.Task))); diff != "" {
				t.Errorf("the answer to a blocking call (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTextWholeAtItsEnd is for clients that keep of a text what its last chunk has.
func TestTextWholeAtItsEnd(t *testing.T) {
	r := &asker{runner: newRunner()}
	e := newEngine(t, r)
	req := request("m", "c", "hi")
	req.Message.Parts[0].SetMeta("is_user_input", true)
	stream := listen(e.SendStreamingMessage(t.Context(), req))
	j := r.next(t).start()
	j.say("a", "may")
	j.whole("a", "may I?", "")
	j.observe(agent.Question{ID: "q1", Text: "May I?", Data: map[string]any{}})
	asked := stream.wait(t)
	want := "task submitted\nstatus working\nnew a \"ma\"\nnew a \"may I?\" last\nstatus input_required"
	if diff := cmp.Diff(want, showAll(asked)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}

	answer := request("m2", "c", "yes") // which has no mark: the task has
	answer.Message.TaskID = asked[0].TaskInfo().TaskID
	answered := make(chan struct{})
	r.onAnswer = func() { close(answered) }
	stream = listen(e.SendStreamingMessage(t.Context(), answer))
	<-answered
	j.say("b", "and")
	j.whole("b", "and done", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	events := stream.wait(t)
	seen := showAll(events)
	if !strings.Contains(seen, `new b "and done" last`) || strings.Contains(seen, `"d done"`) {
		t.Errorf("stream of the answer:\n%s", seen)
	}

	var again []a2a.Event // after the task has ended
	for event, err := range e.Stream(t.Context(), answer, "1.4") {
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, event.Event)
	}
	if got := showAll(again); !strings.Contains(got, `new b "and done" last`) {
		t.Errorf("the stream of a task that has ended:\n%s", got)
	}
}

// TestTakenBackForOthersOnly: those who keep what a last chunk has would keep an empty text.
func TestTakenBackForOthersOnly(t *testing.T) {
	cases := map[string]struct {
		change func(*a2a.SendMessageRequest)
		told   bool
	}{
		"everything": {func(*a2a.SendMessageRequest) {}, true},
		"keeps-last": {func(req *a2a.SendMessageRequest) { req.Message.Parts[0].SetMeta("is_user_input", true) }, false},
		"no-diff":    {func(req *a2a.SendMessageRequest) { req.Config.AcceptedOutputModes = []string{"text/plain"} }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			req := request("m", "c", "hi")
			c.change(req)
			stream := listen(e.SendStreamingMessage(t.Context(), req))
			j := r.next(t).start()
			j.observe(agent.DiffUpdated{Diff: "+1"})
			j.whole("c", "one", "commentary")
			j.observe(agent.DiffUpdated{})
			j.whole("f", "done", "final_answer")
			j.end(agent.Ended{Outcome: agent.Completed})
			seen := showAll(stream.wait(t))
			if told := strings.Contains(seen, `new diff "" void`); told != c.told {
				t.Errorf("told that the diff is taken back: %t, want %t:\n%s", told, c.told, seen)
			}
			if !strings.HasSuffix(seen, "new f \"done\" last\nstatus completed") {
				t.Errorf("the answer is not the last artifact:\n%s", seen)
			}
		})
	}
}

// TestTextTakenBackFromThoseWhoTakeItWhole: what they were shown of an earlier attempt.
func TestTextTakenBackFromThoseWhoTakeItWhole(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	req := request("m", "c", "hi")
	req.Config.AcceptedOutputModes = []string{"application/json"}
	stream := listen(e.SendStreamingMessage(t.Context(), req))
	j := r.next(t).start()
	j.whole("a", "one", "")
	j.whole("b", "two", "")
	j.attempt(2)
	j.whole("c", "done", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	if seen := showAll(stream.wait(t)); !strings.Contains(seen, `new b "" void`) {
		t.Errorf("stream:\n%s", seen)
	}
}

// TestAcceptedModesAreBounded, also those of a message that was taken before: they are kept
// for as long as their sender waits.
func TestAcceptedModesAreBounded(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	begin(t, e, request("m", "c", "hi"))
	defer r.next(t).start().end(agent.Ended{Outcome: agent.Completed})
	for name, c := range map[string]struct {
		modes   []string
		refused string
	}{
		"as many as may be": {modes: slices.Repeat([]string{"text/plain"}, 64)},
		"one more":          {slices.Repeat([]string{"text/plain"}, 65), "65 media types with 650 bytes"},
		"as long as may be": {modes: []string{strings.Repeat("a", 2<<10), strings.Repeat("b", 2<<10)}},
		"a byte more":       {[]string{strings.Repeat("a", 2<<10), strings.Repeat("b", 2<<10+1)}, "2 media types with 4097 bytes"},
	} {
		req := request("m", "c", "hi")
		req.Config.AcceptedOutputModes, req.Config.ReturnImmediately = c.modes, true
		_, err := e.SendMessage(t.Context(), req)
		for _, streamed := range e.SendStreamingMessage(t.Context(), req) {
			if (err == nil) != (streamed == nil) {
				t.Errorf("%s: %v, and as a stream %v", name, err, streamed)
			}
			break
		}
		if (err != nil) != (c.refused != "") || err != nil && (!errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}
