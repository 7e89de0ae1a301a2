package tasks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

const mib = 1 << 20

// kept is how many bytes of a task's events are in the journal.
func (m *machine) kept(id a2a.TaskID) (n int) {
	m.t.Helper()
	batches, err := m.st.Events(m.t.Context(), string(id), 0, 1<<30)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, batch := range batches {
		n += len(batch.Body)
	}
	return n
}

// open are the ids of the questions that an event asks.
func open(event a2a.Event) (all []string) {
	update, ok := event.(*a2a.TaskStatusUpdateEvent)
	if !ok || update.Status.Message == nil {
		return nil
	}
	for _, p := range update.Status.Message.Parts {
		if data, ok := p.Data().(map[string]any); ok {
			if id, ok := data["id"].(string); ok {
				all = append(all, id)
			}
		}
	}
	return all
}

// untold reports whether an event says that it lacks what is asked.
func untold(event a2a.Event) bool {
	update, ok := event.(*a2a.TaskStatusUpdateEvent)
	return ok && update.Status.Message != nil && strings.Contains(update.Status.Message.Parts[0].Text(), "not told again")
}

// TestBoundsOfToldQuestions: each event has all that are open, so of many that are large the
// journal has less than was told, and readers who keep up have all of it.
func TestBoundsOfToldQuestions(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m, task, j := askingMachine(t, time.Time{})
	reader := pull(m.resume(task.ID, ""))
	defer reader.stop()
	reader.take(t, 1)
	large := strings.Repeat("x", 250<<10)
	const asked = 12
	var places []string
	for i := range asked {
		j.observe(agent.Question{ID: fmt.Sprint("q", i), Text: large, Data: map[string]any{"id": fmt.Sprint("q", i)}})
		event := reader.take(t, 1)[0]
		if got := open(event.Event); len(got) != i+1 {
			t.Fatalf("with question %d the reader sees %q", i, got)
		}
		places = append(places, event.ID)
	}
	sender := read(t, m.e.Stream(t.Context(), request("m1", "c", "hi"), places[asked-3]), 0)
	if len(sender) != 1 || len(open(sender[0].Event)) != asked { // it ends with what asks
		t.Errorf("the sender comes back and gets %d events", len(sender))
	}
	for i := range asked {
		send(t, m.e, answerWith(task, fmt.Sprint("a", i), map[string]any{"id": fmt.Sprint("q", i), "decision": "decline"}))
		if got := open(reader.take(t, 1)[0].Event); len(got) != asked-1-i {
			t.Fatalf("without question %d the reader sees %q", i, got)
		}
	}
	j.answer("done")
	if got := m.kept(task.ID); got < 8*mib || got > 17*mib {
		t.Errorf("the journal has %d bytes of what was told", got)
	}
	if rest := read(t, m.resume(task.ID, places[asked-2]), 0); len(rest) < asked || !untold(rest[0].Event) {
		t.Errorf("who comes back at the end gets %s", showAll(bare(rest)))
	}
}

// TestBoundsOfToldDiffs: beyond them a diff is shown at the end of its turn, and then whole.
func TestBoundsOfToldDiffs(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	diff := strings.Repeat("+line\n", mib/6)
	for i := range 40 {
		diff += "+more\n"
		j.observe(agent.DiffUpdated{Diff: diff})
		j.whole(fmt.Sprint("f", i), "on", "final_answer")
	}
	j.end(agent.Ended{Outcome: agent.Completed, Diff: diff})
	if got := m.kept(task.ID); got < 8*mib || got > 20*mib {
		t.Errorf("the journal has %d bytes of what was told", got)
	}
	if content(get(t, m.e, task.ID))["diff"] != diff {
		t.Error("the task has another diff")
	}
}

// TestBoundsOfToldDrafts: where the whole message is never what was streamed of it, it is no
// longer streamed, nor where its turn asks meanwhile.
func TestBoundsOfToldDrafts(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, asks := range []bool{false, true} {
		t.Run(fmt.Sprint("asks ", asks), func(t *testing.T) { draftsInBounds(t, asks) })
	}
}

func draftsInBounds(t *testing.T, asks bool) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	j := m.r.next(t).start()
	draft := strings.Repeat("draft ", mib/6)
	for i := range 40 {
		j.say(fmt.Sprint("f", i), draft)
		if asks {
			j.ask(fmt.Sprint("q", i), "May I?")
			j.observe(agent.Answered{ID: fmt.Sprint("q", i)})
		}
		j.whole(fmt.Sprint("f", i), "done", "")
	}
	j.end(agent.Ended{Outcome: agent.Completed})
	if got := m.kept(task.ID); got < 8*mib || got > 20*mib {
		t.Errorf("the journal has %d bytes of what was told", got)
	}
	if got := content(get(t, m.e, task.ID)); len(got) != 40 || got["f39"] != "done" {
		t.Errorf("the task has %d texts, the last is %.50q", len(got), got["f39"])
	}
}

// TestTaskHasItsFirstWhateverOthersHaveTold: it is streamed, and its diff comes before its
// message, until it has told something again itself.
func TestTaskHasItsFirstWhateverOthersHaveTold(t *testing.T) {
	m := newMachine(t)
	m.e.Retell(false, tasks.MostToldOfAll+1)
	stream := listen(m.e.SendStreamingMessage(t.Context(), request("m", "c", "hi")))
	j := m.r.next(t).start()
	j.observe(agent.DiffUpdated{Diff: "+a"})
	j.say("f", "draft")
	j.whole("f", "done", "")
	j.observe(agent.DiffUpdated{Diff: "+ab"})
	j.say("g", "more")
	j.whole("g", "more", "")
	j.end(agent.Ended{Outcome: agent.Completed, Diff: "+ab"})
	wantStream(t, stream.wait(t), `new diff "+a" last|new f "draf"|new f "done" last|new g "more" last|new diff "+ab" last`)
}

// TestUserIsStreamedWhateverOtherAgentsHaveTold, also when another text has taken the place of one.
func TestUserIsStreamedWhateverOtherAgentsHaveTold(t *testing.T) {
	m := newMachine(t, func(c *tasks.Config) { c.Workspace = &tasks.Workspace{} })
	m.e.Retell(true, tasks.MostToldOfAll+1)
	for context, want := range map[string]string{
		"c":        `new f "draf"|new f "done" last|new g "mor"|add g "e" last`,
		"peer:bob": `new f "draf"|new f "done" last|new g "more" last`,
	} {
		req := request("m-"+context, context, "hi")
		stream := listen(m.e.SendStreamingMessage(t.Context(), req))
		j := m.r.next(t).start()
		j.say("f", "draft")
		j.whole("f", "done", "")
		j.say("g", "more")
		j.whole("g", "more", "")
		j.end(agent.Ended{Outcome: agent.Completed})
		wantStream(t, stream.wait(t), want)
	}
}
