package tasks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// read collects up to n events of a stream, all of them if n is 0.
func read(t testing.TB, stream iter.Seq2[*feed.Event, error], n int) []*feed.Event {
	t.Helper()
	var events []*feed.Event
	for event, err := range stream {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, event); len(events) == n {
			break
		}
	}
	return events
}

func bare(events []*feed.Event) []a2a.Event {
	out := make([]a2a.Event, len(events))
	for i, e := range events {
		out[i] = e.Event
	}
	return out
}

func ids(events []*feed.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.ID)
	}
	return strings.Join(out, " ")
}

func (m *machine) resume(id a2a.TaskID, after string) iter.Seq2[*feed.Event, error] {
	return m.e.Resume(m.t.Context(), &a2a.SubscribeToTaskRequest{ID: id}, after)
}

// TestResume: at every event a reader leaves and another comes back with its id;
// together they have the whole stream, once. So while the turn runs, after its
// end, and after a restart.
func TestResume(t *testing.T) {
	m := newMachine(t)
	req := request("m1", "c", "hi")
	var whole []*feed.Event
	read1 := make(chan struct{})
	go func() {
		defer close(read1)
		for event, err := range m.e.Stream(context.Background(), req, "") {
			if err == nil {
				whole = append(whole, event)
			}
		}
	}()
	j := m.r.next(t).start()
	j.say("a", "one ")
	j.observe(tool("cmd"))
	for i := range 20 {
		j.say("a", fmt.Sprintf("word %d ", i))
		if i%5 == 0 {
			time.Sleep(25 * time.Millisecond) // let chunks come apart
		}
	}
	id := a2a.TaskID(j.ID[:36])
	early := read(t, m.resume(id, "1.0"), 2)
	if show(early[0].Event) != "status working" || early[0].ID != "1.1" {
		t.Errorf("after 1.0 comes %s %s", early[0].ID, show(early[0].Event))
	}
	j.answer("the end")
	<-read1
	check := func(when string) {
		for i, last := range whole[:len(whole)-1] {
			rest := read(t, m.resume(id, last.ID), 0)
			if got, want := ids(rest), ids(whole[i+1:]); got != want {
				t.Errorf("%s, after %s: %s, want %s", when, last.ID, got, want)
			}
			all := append(bare(whole[:i+1]), bare(rest)...)
			if !maps.Equal(fold(t, all), fold(t, bare(whole))) {
				t.Errorf("%s, after %s: another text", when, last.ID)
			}
			again := read(t, m.e.Stream(t.Context(), req, last.ID), 0) // the sender comes back
			if ids(again) != ids(rest) {
				t.Errorf("%s, sent again after %s: %s", when, last.ID, ids(again))
			}
		}
		if rest := read(t, m.resume(id, whole[len(whole)-1].ID), 0); len(rest) != 0 {
			t.Errorf("%s: %d events after the last one", when, len(rest))
		}
	}
	check("after the end")
	m.restart()
	check("after a restart")
}

// TestUnknownPlaces begin with the task as it is.
func TestUnknownPlaces(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	m.r.next(t).start().answer("done")
	for _, after := range []string{"9.1", "1.999", "x", "1", "1.1.1", "-1.2", "1.-5", "2.1"} {
		events := read(t, m.resume(id, after), 0)
		if len(events) != 1 || show(events[0].Event) != show(get(t, m.e, id)) {
			t.Errorf("%s: %s", after, showAll(bare(events)))
		}
	}
	for _, err := range m.resume(id, "") {
		wantError(t, err, a2a.ErrUnsupportedOperation, "has ended")
	}
}

// TestResumeOverACut: what was shown and not committed is not known after the
// restart, and the new attempt is of another epoch.
func TestResumeOverACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nothing is committed by the passing of time
		m := newMachine(t)
		id := begin(t, m.e, request("m1", "c", "hi")).ID
		j := m.r.next(t).start()
		j.say("a", "committed ")
		m.save(id)
		time.Sleep(25 * time.Millisecond)
		j.say("a", "lost")
		seen := read(t, m.resume(id, "1.0"), 3) // commits, too: so say more
		time.Sleep(25 * time.Millisecond)
		j.say("a", ", too")
		m.restart()
		known, unknown := seen[2].ID, "1.4"
		if known != "1.3" {
			t.Fatalf("the last event was %s", known)
		}
		j = m.r.next(t).attempt(2)
		j.say("b", "anew")
		j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "b", Text: "anew"}}})
		after := read(t, m.resume(id, known), 0)
		if got := fold(t, append(bare(seen), bare(after)...)); got["a"] != "anew" || len(got) != 1 {
			t.Errorf("a reader who came back has %v (%s)", got, ids(after))
		}
		if !strings.HasPrefix(ids(after), "2.4 ") {
			t.Errorf("after %s come %s", known, ids(after))
		}
		other := read(t, m.resume(id, unknown), 0)
		if len(other) != 1 || other[0].Event.(*a2a.Task).Status.State != a2a.TaskStateCompleted {
			t.Errorf("after %s: %s", unknown, showAll(bare(other)))
		}
	})
}

// TestUnsavedTaskIsSavedLater: the turn goes on, its end is saved when there is room, and a
// reader can come back then.
func TestUnsavedTaskIsSavedLater(t *testing.T) {
	r := newRunner()
	journal := &brokenJournal{Journal: newJournal(t)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
	id := begin(t, e, request("m1", "c", "hi")).ID
	j := r.next(t).start()
	journal.broken.Store(true)
	j.say("a", "while it was full")
	j.observe(tool("cmd"))
	j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: "while it was full"}}})
	if got := get(t, e, id); got.Status.State != a2a.TaskStateCompleted {
		t.Errorf("the task is %s", got.Status.State)
	}
	if row, err := journal.Task(t.Context(), string(id)); err != nil || row.Ended {
		t.Fatalf("%v, %v", row.State, err)
	}
	journal.broken.Store(false)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		row, err := journal.Task(t.Context(), string(id))
		if err == nil && row.Ended && len(row.Artifacts) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, %v", row, err)
		}
	}
	if events := read(t, e.Resume(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}, "1.1"), 0); len(events) < 3 {
		t.Errorf("events %s", ids(events))
	}
	if open, err := journal.Unfinished(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("%v, %v", open, err)
	}
}

// TestBoundsOfALargeEvent: what is larger than what a full disk may hold up is let go
// only on a full disk.
func TestBoundsOfALargeEvent(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	j := m.r.next(t).start()
	large := strings.Repeat("x", 17<<20)
	j.observe(agent.Produced{ID: "f", Name: "f.bin", MediaType: "application/octet-stream", Bytes: []byte(large)})
	m.save(id)
	m.restart()
	if got := get(t, m.e, id); len(got.Artifacts) != 1 || len(got.Artifacts[0].Parts[0].Raw()) != len(large) {
		t.Errorf("%d artifacts", len(got.Artifacts))
	}
}

// TestSubscribeWhileAccepted: who sees a task in the list before it is under way has
// its stream all the same.
func TestSubscribeWhileAccepted(t *testing.T) {
	m := newMachine(t)
	m.r.gate = make(chan struct{})
	sent := make(chan error, 1)
	go func() {
		_, err := m.e.SendMessage(t.Context(), request("m1", "c", "hi"))
		sent <- err
	}()
	<-m.r.gate
	list, err := m.e.ListTasks(t.Context(), &a2a.ListTasksRequest{})
	if err != nil || len(list.Tasks) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	followed := make(chan []*feed.Event, 1)
	go func() { followed <- read(t, m.resume(list.Tasks[0].ID, "1.0"), 0) }()
	time.Sleep(20 * time.Millisecond) // the reader most likely is there before the rest
	m.r.gate <- struct{}{}
	m.r.next(t).start().answer("done")
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if got := <-followed; len(got) < 2 || !strings.Contains(show(got[len(got)-1].Event), "completed") {
		t.Errorf("followed %s", showAll(bare(got)))
	}
}

// A leftJournal is asked for events by a reader who leaves meanwhile.
type leftJournal struct {
	*store.Store
	leave context.CancelFunc
}

func (l leftJournal) Events(ctx context.Context, task string, after int64, n int) ([]store.Events, error) {
	l.leave()
	return l.Store.Events(ctx, task, after, n)
}

// TestReaderLeavesAResume: that is no failure of the journal, and not logged as one.
func TestReaderLeavesAResume(t *testing.T) {
	var log bytes.Buffer
	ctx, leave := context.WithCancel(t.Context())
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) {
		c.Journal = leftJournal{newJournal(t), leave}
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	seen := read(t, e.Stream(t.Context(), request("m1", "c", "hi"), ""), 1)[0]
	r.next(t).start().answer("done")
	for _, err := range e.Resume(ctx, &a2a.SubscribeToTaskRequest{ID: seen.Event.TaskInfo().TaskID}, seen.ID) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the reader has %v", err)
		}
	}
	if ctx.Err() == nil || log.Len() > 0 {
		t.Errorf("logged, after %v: %s", ctx.Err(), log.String())
	}
}

// TestStopDuringAStart leaves the tasks that are read to the next one, and condemns none.
func TestStopDuringAStart(t *testing.T) {
	var log bytes.Buffer
	ctx, leave := context.WithCancel(t.Context())
	st, r := newJournal(t), newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = st })
	begin(t, e, request("m1", "c", "hi"))
	r.next(t).start().observe(tool("item-1"))
	next := newEngine(t, newRunner(), func(c *tasks.Config) {
		c.Journal, c.Logger = leftJournal{st, leave}, slog.New(slog.NewTextHandler(&log, nil))
	})
	if err := next.Recover(ctx); !errors.Is(err, context.Canceled) || log.Len() > 0 {
		t.Errorf("the start ends with %v, and logs %s", err, log.String())
	}
}

// TestPlaceOfAnEventThatWasLost: kills take events back that a reader has had, and no place
// is given twice: the reader learns of the end, whichever it has had last.
func TestPlaceOfAnEventThatWasLost(t *testing.T) {
	m := newMachine(t)
	task := begin(t, m.e, request("m1", "c", "hi"))
	var lost []string
	for attempt := 1; attempt <= 4; attempt++ {
		slow := pull(m.resume(task.ID, ""))
		slow.take(t, 1)
		m.r.next(t).attempt(attempt)
		id := slow.take(t, 1)[0].ID
		if slow.stop(); slices.Contains(lost, id) {
			t.Errorf("%s is given to an event when %q were given before", id, lost)
		}
		lost = append(lost, id)
		m.restart()
	}
	m.r.next(t)
	if _, err := m.e.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
		t.Fatal(err)
	}
	for _, id := range lost {
		back := pull(m.resume(task.ID, id))
		if events := back.take(t, 0); len(events) == 0 {
			t.Errorf("the reader who has had %s is told nothing of the end", id)
		}
		back.stop()
	}
}
