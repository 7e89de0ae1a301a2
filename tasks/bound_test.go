package tasks_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

func mostText(n int) func(*tasks.Config) { return func(c *tasks.Config) { c.MostText = n } }

// cutAt is a text of which there was room for so much.
func cutAt(kept string, all int) string {
	line := fmt.Sprintf("[the text was cut here: it had %d bytes, and the runtime had room for %d; all of it is in codex's own thread]", all, len(kept))
	if kept == "" {
		return line
	}
	return kept + "\n\n" + line
}

// TestTextOfATaskIsBounded: the stream and the task have the same beginning of it, however
// it came, and say that it was cut.
func TestTextOfATaskIsBounded(t *testing.T) {
	const most = 32
	long := strings.Repeat("€", 10) + "abcdef" // a character stands across the bound
	kept := strings.Repeat("€", 10) + "ab"
	pieces := func(j *job, text string, n int) {
		for runes := []rune(text); len(runes) > 0; runes = runes[min(n, len(runes)):] {
			j.say("f", string(runes[:min(n, len(runes))]))
		}
	}
	completed := func(j *job, text string) {
		j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "f", Text: text}}})
	}
	cases := map[string]struct {
		says func(*job)
		want string
	}{
		"as-long-as-may-be": {func(j *job) { pieces(j, kept, 4); completed(j, kept) }, kept},
		"in-pieces":         {func(j *job) { pieces(j, long, 4); j.whole("f", long, ""); completed(j, long) }, cutAt(kept, len(long))},
		"one-by-one":        {func(j *job) { pieces(j, long, 1); j.whole("f", long, ""); completed(j, long) }, cutAt(kept, len(long))},
		"whole-at-once":     {func(j *job) { j.whole("f", long, ""); completed(j, long) }, cutAt(kept, len(long))},
		"at-the-end-only":   {func(j *job) { completed(j, long) }, cutAt(kept, len(long))},
		"nothing-behind-a-cut": {func(j *job) {
			j.say("f", strings.Repeat("€", 12))
			j.say("f", "ab") // has room, and its place is not there
			j.end(agent.Ended{Outcome: agent.Interrupted})
		}, cutAt(strings.Repeat("€", 10), 38)},
		"another-text": {func(j *job) { pieces(j, long, 4); j.whole("f", "short", ""); completed(j, "short") }, "short"},
		"slip":         {func(j *job) { pieces(j, long, 4); j.whole("f", "", ""); completed(j, "") }, cutAt(kept, len(long))},
		"cut-off":      {func(j *job) { pieces(j, long, 4); j.end(agent.Ended{Outcome: agent.Interrupted}) }, cutAt(kept, len(long))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r, mostText(most))
			stream := listen(e.SendStreamingMessage(t.Context(), request("m", "c", "hi")))
			c.says(r.next(t).start())
			events := stream.wait(t)
			task := get(t, e, events[0].TaskInfo().TaskID)
			want := map[a2a.ArtifactID]string{"f": c.want}
			if diff := cmp.Diff(want, content(task)); diff != "" {
				t.Errorf("the task (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, fold(t, events)); diff != "" {
				t.Errorf("the stream (-want +got):\n%s", diff)
			}
			for _, event := range events {
				if update, ok := event.(*a2a.TaskArtifactUpdateEvent); ok && !utf8.ValidString(update.Artifact.Parts[0].Text()) {
					t.Errorf("a character is cut: %s", show(event))
				}
			}
		})
	}
}

// TestFullTaskGoesOn: its later messages have no room, but the answer of each turn.
func TestFullTaskGoesOn(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, mostText(160))
	id := begin(t, e, request("m1", "c", "hi")).ID
	more := request("m2", "c", "more")
	more.Message.TaskID = id
	begin(t, e, more)
	j := r.next(t).start()
	j.whole("a", strings.Repeat("a", 200), "commentary")
	j.whole("b", "nothing of it", "commentary")
	j.whole("f", "its answer", "final_answer")
	j.end(agent.Ended{Outcome: agent.Completed})
	j = r.next(t).start()
	j.say("g", "the next ")
	j.say("g", "answer is longer")
	j.whole("g", "the next answer is longer", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	want := map[a2a.ArtifactID]string{
		"a": cutAt(strings.Repeat("a", 160), 200), "b": cutAt("", 13), "f": "its answer", "g": cutAt("the next a", 25),
	}
	task := get(t, e, id)
	if diff := cmp.Diff(want, content(task)); diff != "" {
		t.Errorf("the task (-want +got):\n%s", diff)
	}
	if task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the task is %s", task.Status.State)
	}
}

// TestLongDiffIsCut: once, with the room that there was, and not again behind the answer.
func TestLongDiffIsCut(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, mostText(32))
	stream := listen(e.SendStreamingMessage(t.Context(), request("m", "c", "hi")))
	j := r.next(t).start()
	j.whole("a", "twelve bytes", "commentary")
	diff := strings.Repeat("+line\n", 10)
	j.observe(agent.DiffUpdated{Diff: diff})
	j.whole("f", "ok", "final_answer")
	j.end(agent.Ended{Outcome: agent.Completed, Diff: diff})
	cut := diff[:20] + "\n\n[the diff was cut here: it had 60 bytes, and the runtime had room for 20; the files have all of it]"
	wantStream(t, stream.wait(t), fmt.Sprintf(`new a "twelve bytes" last|new diff %q last|new f "ok" last`, cut))
}

// TestCutTextSurvives a restart in the middle of its turn and one after its end, and what a
// further attempt says in its place has the room that it had.
func TestCutTextSurvives(t *testing.T) {
	m := newMachine(t, mostText(32))
	long := strings.Repeat("0123456789", 5)
	id := begin(t, m.e, request("m", "c", "hi")).ID
	j := m.r.next(t).start()
	j.say("a", long)
	m.save(id)
	m.restart()
	if shown := content(get(t, m.e, id)); shown["a"] != long[:31] {
		t.Errorf("after the restart there is %q", shown)
	}
	stream := follow(t, m.e, id)
	j = m.r.next(t).attempt(2)
	j.say("b", long)
	j.whole("b", long, "")
	j.end(agent.Ended{Outcome: agent.Completed})
	want := map[a2a.ArtifactID]string{"a": cutAt(long[:32], len(long))}
	if diff := cmp.Diff(want, fold(t, stream.wait(t))); diff != "" {
		t.Errorf("the stream (-want +got):\n%s", diff)
	}
	m.restart()
	if diff := cmp.Diff(want, content(get(t, m.e, id))); diff != "" {
		t.Errorf("the task (-want +got):\n%s", diff)
	}
}

// TestTextsOfAllTasksAreBounded: beyond that a task that has not ended has room for an answer, and
// no more. One that has ended leaves its room to others.
func TestTextsOfAllTasksAreBounded(t *testing.T) {
	const most = 160
	r := newRunner()
	e := newEngine(t, r, mostText(most))
	var running []*job
	says := func(bytes int, want string) {
		t.Helper()
		task := begin(t, e, request(fmt.Sprint("m", len(running)), fmt.Sprint("c", len(running)), "hi"))
		j := r.next(t).start()
		running = append(running, j)
		text := strings.Repeat("y", bytes)
		j.say("f", text)
		j.whole("f", text, "")
		if got := fmt.Sprint(texts(get(t, e, task.ID))); !strings.Contains(got, want) {
			t.Errorf("task %d says %s, want %s in it", len(running), got, want)
		}
	}
	all := strings.Repeat("y", most)
	for range 8 {
		says(most, all)
	}
	for range 2 {
		says(most, "had room for 10;")
	}
	for _, j := range running[:3] { // the lines that say so take room, too
		j.end(agent.Ended{Outcome: agent.Canceled})
	}
	says(most, all)
}
