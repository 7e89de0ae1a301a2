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

// heavy is a message that takes some 0.7 MB in memory and 60 kB on the wire.
func heavy(req *a2a.SendMessageRequest) *a2a.SendMessageRequest {
	all := make([]any, 30_000)
	for i := range all {
		all[i] = float64(1)
	}
	req.Message.Metadata = map[string]any{"x": all}
	req.Config.ReturnImmediately = true
	return req
}

// TestBoundsOfATaskThatDoesNotEnd: what it was sent stays in memory until it ends, so it takes no more at
// some time, also after a restart; another task does, and this one has what it was sent before.
func TestBoundsOfATaskThatDoesNotEnd(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := newMachine(t)
	task := begin(t, m.e, heavy(request("m0", "c", "hi")))
	running := m.r.next(t)
	var refused error
	n := 1
	for ; n < 100 && refused == nil; n++ {
		if _, refused = m.e.SendMessage(t.Context(), heavy(to(task, fmt.Sprint("m", n), "more"))); refused == nil {
			running.start().answer("done")
			running = m.r.next(t)
		}
	}
	wantError(t, refused, a2a.ErrUnsupportedOperation, "of messages and answers behind it, and takes no more; send the message without a taskId")
	if n < 18 || n > 35 {
		t.Errorf("it takes %d messages", n)
	}
	m.restart()
	m.r.next(t)
	_, err := m.e.SendMessage(t.Context(), heavy(to(task, "again", "more")))
	wantError(t, err, a2a.ErrUnsupportedOperation, "takes no more")
	d := &depot{}
	m.change = append(m.change, func(cfg *tasks.Config) { cfg.Files = d })
	m.restart()
	running = m.r.next(t)
	withFile := bringing("with-file", 1, "https")
	withFile.Message.TaskID = task.ID
	_, err = m.e.SendMessage(t.Context(), returning(withFile))
	wantError(t, err, a2a.ErrUnsupportedOperation, "takes no more")
	if asked, _ := d.found(); asked > 0 {
		t.Errorf("%d files of a message are fetched that is refused", asked)
	}
	begin(t, m.e, heavy(request("other", "c2", "hi")))
	m.r.next(t).start().answer("done")
	running.start().answer("the end")
	wantTask(t, get(t, m.e, task.ID), a2a.TaskStateCompleted, "the end")
}

// TestBoundsOfManyTasks: all of them have a bound, and other agents a part of it; a task that
// has ended gives back what it had.
func TestBoundsOfManyTasks(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := newMachine(t, func(cfg *tasks.Config) { cfg.Workspace = &tasks.Workspace{} })
	sent := 0
	// fill makes a task of another agent's, or the user's, that takes messages as long as it may, and
	// returns how many it took, and why no more.
	fill := func(from string) (running *job, n int, refused error) {
		say := func(req *a2a.SendMessageRequest) *a2a.SendMessageRequest {
			req = heavy(req)
			if from != "" {
				req.Message.Metadata["source_workspace_id"] = from
			}
			return req
		}
		sent++
		task := begin(t, m.e, say(request(fmt.Sprint("first", sent), fmt.Sprint("c", sent), "hi")))
		for running = m.r.next(t); ; running = m.r.next(t) {
			sent++
			if _, refused = m.e.SendMessage(t.Context(), say(to(task, fmt.Sprint("m", sent), "more"))); refused != nil {
				return running, n, refused
			}
			n++
			running.start().answer("done")
		}
	}
	for range 2 {
		_, n, err := fill("bob")
		wantError(t, err, a2a.ErrUnsupportedOperation, "takes no more")
		if n < 18 {
			t.Errorf("a task takes %d messages", n)
		}
	}
	last, n, _ := fill("bob")
	if n < 18 {
		t.Errorf("a task takes %d messages", n)
	}
	const full = "send the message again when some have ended, or without a taskId"
	_, n, err := fill("bob")
	wantError(t, err, a2a.ErrUnsupportedOperation, full)
	if n > 1 {
		t.Errorf("%d messages more are taken", n)
	}
	if _, n, _ = fill(""); n < 18 {
		t.Errorf("of the user's %d messages are taken", n)
	}
	last.start().answer("done")
	if _, n, _ = fill("bob"); n < 18 {
		t.Errorf("after a task has ended %d messages are taken", n)
	}
}

// TestMessageToATurnThatHasTooMuchBehindIt makes a task of its own, if it names none.
func TestMessageToATurnThatHasTooMuchBehindIt(t *testing.T) {
	longtest.Mark(t)
	m, now := steeringMachine(t, func(cfg *tasks.Config) { cfg.MidTurn = true })
	now().stopTaking() // what is for a running turn has one of its own in the same task
	task := begin(t, m.e, heavy(request("m0", "c", "hi")))
	running := m.r.next(t).start()
	n := 0
	for ; n < 100; n++ {
		if other := begin(t, m.e, heavy(request(fmt.Sprint("m", n+1), "c", "and this"))); other.ID != task.ID {
			break
		}
		running.answer("done")
		running = m.r.next(t).start()
	}
	if n < 18 || n > 35 {
		t.Errorf("the task takes %d messages", n)
	}
}

// TestManyFurtherMessages: what keeps a task from ending has a bound in number, and other agents a
// part of it; it counts until it has had its turn, and over a restart.
func TestManyFurtherMessages(t *testing.T) {
	m := newMachine(t, func(cfg *tasks.Config) { cfg.Workspace = &tasks.Workspace{} })
	var all []*a2a.Task
	further := func(from string) error {
		n := len(all)
		first, more := request(fmt.Sprint("first", n), fmt.Sprint("c", n), "hi"), request(fmt.Sprint("more", n), "", "more")
		for _, req := range []*a2a.SendMessageRequest{first, more} {
			req.Config.ReturnImmediately = true
			if from != "" {
				req.Message.Metadata = map[string]any{"source_workspace_id": from}
			}
		}
		all = append(all, begin(t, m.e, first))
		m.r.next(t)
		more.Message.TaskID = all[n].ID
		if _, err := m.e.SendMessage(t.Context(), more); err != nil {
			return err
		}
		m.r.next(t)
		return nil
	}
	count := func(from string) (n int) {
		t.Helper()
		for n < 200 {
			if err := further(from); err != nil {
				wantError(t, err, a2a.ErrUnsupportedOperation, "too many messages and answers behind them, or before them")
				return n
			}
			n++
		}
		return n
	}
	if n := count("bob"); n != 96 {
		t.Errorf("of another agent's %d are taken", n)
	}
	if n := count(""); n != 32 {
		t.Errorf("of the user's %d are taken", n)
	}
	m.restart()
	if _, err := m.e.SendMessage(t.Context(), returning(to(all[len(all)-1], "again", "more"))); err == nil {
		t.Error("after a restart more are taken")
	}
}

// TestBoundsOfQuestionsWithoutEnd: a turn can ask without end, and the history of its task keeps what was
// asked up to a bound, and each answer.
func TestBoundsOfQuestionsWithoutEnd(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m, task, j := askingMachine(t, time.Time{})
	large := strings.Repeat("x", 100<<10)
	const asked = 60
	for i := range asked {
		id := fmt.Sprint("q", i)
		j.observe(agent.Question{ID: id, Text: "May I " + id + "? " + large, Accepts: "Answer yes.", Data: map[string]any{"id": id}})
		send(t, m.e, returning(to(task, "a-"+id, "yes")))
	}
	for range 2 {
		history := said(get(t, m.e, task.ID))
		whole, short := 0, 0
		for _, text := range history {
			switch {
			case strings.Contains(text, large):
				whole++
			case strings.Contains(text, "is not kept"):
				short++
			}
		}
		if whole < 5 || whole > 25 || whole+short != asked || len(history) != 1+2*asked {
			t.Errorf("of %d messages %d have what was asked, and %d say that it is not kept", len(history), whole, short)
		}
		m.restart()
	}
}

// TestWithdrawnQuestionsWithoutEnd have the same bound: codex withdraws them before an answer.
func TestWithdrawnQuestionsWithoutEnd(t *testing.T) {
	longtest.Mark(t)
	m, task, j := askingMachine(t, time.Time{})
	large := strings.Repeat("x", 100<<10)
	const asked = 60
	for i := range asked {
		id := fmt.Sprint("q", i)
		j.observe(agent.Question{ID: id, Text: large, Data: map[string]any{"id": id}})
		j.observe(agent.Answered{ID: id, Note: "It was withdrawn."})
	}
	whole := 0
	for _, text := range said(get(t, m.e, task.ID)) {
		if strings.Contains(text, large) {
			whole++
		}
	}
	if whole < 5 || whole > 25 {
		t.Errorf("%d of %d are kept", whole, asked)
	}
}
