package tasks_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// A pulled stream is read an event at a time.
type pulled struct {
	next func() (*feed.Event, error, bool)
	stop func()
}

func pull(stream iter.Seq2[*feed.Event, error]) pulled {
	next, stop := iter.Pull2(stream)
	return pulled{next, stop}
}

// take reads up to n events, or all that are left if n is 0.
func (p pulled) take(t testing.TB, n int) []*feed.Event {
	t.Helper()
	var events []*feed.Event
	for n == 0 || len(events) < n {
		event, err, ok := p.next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		events = append(events, event)
	}
	return events
}

// pieces streams n texts of 64 KiB, and calls each after every one.
func (j *job) pieces(n int, each func()) {
	for i := range n {
		j.say("a", strings.Repeat(string(rune('a'+i%26)), 64<<10))
		time.Sleep(30 * time.Millisecond) // so that each is an event
		each()
	}
}

// TestBoundsOfReadersFarBehind: what is published beside a reader who does not read on leaves memory,
// and the reader gets it all the same, in the same places.
func TestBoundsOfReadersFarBehind(t *testing.T) {
	longtest.Mark(t)
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		task := begin(t, m.e, request("m1", "c", "hi"))
		j := m.r.next(t).start()
		slow, quick := pull(m.resume(task.ID, "")), pull(m.resume(task.ID, ""))
		defer slow.stop()
		defer quick.stop()
		first := slow.take(t, 1)
		places := ids(quick.take(t, 1))
		var early []weak.Pointer[feed.Event]
		j.pieces(100, func() {
			event := quick.take(t, 1)[0]
			places += " " + event.ID
			early = append(early, weak.Make(event))
		})
		runtime.GC()
		kept := 0
		for _, event := range early {
			if event.Value() != nil {
				kept++
			}
		}
		if kept > 64 {
			t.Errorf("%d of %d events of 64 KiB are kept for a reader who is behind", kept, len(early))
		}
		j.pieces(3, func() {})
		j.end(agent.Ended{Outcome: agent.Completed})
		places += " " + ids(quick.take(t, 0))
		all := append(first, slow.take(t, 0)...)
		if got := ids(all); got != places {
			t.Errorf("the reader who was behind got %s, want %s", got, places)
		}
		if want := content(get(t, m.e, task.ID)); !maps.Equal(fold(t, bare(all)), want) {
			t.Error("the reader who was behind has another text")
		}
	})
}

// TestReadersBehindTheEnd: what readers have not read of a task that has ended leaves memory, too.
func TestReadersBehindTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		task := begin(t, m.e, request("m1", "c", "hi"))
		j := m.r.next(t).start()
		slow, quick := pull(m.resume(task.ID, "")), pull(m.resume(task.ID, ""))
		defer slow.stop()
		defer quick.stop()
		slow.take(t, 1)
		quick.take(t, 1)
		var early []weak.Pointer[feed.Event]
		j.pieces(20, func() { early = append(early, weak.Make(quick.take(t, 1)[0])) })
		j.end(agent.Ended{Outcome: agent.Completed})
		quick.take(t, 0)
		runtime.GC()
		for i, event := range early {
			if event.Value() != nil {
				t.Errorf("event %d of a task that has ended is kept for a reader who is behind", i)
			}
		}
		if all := slow.take(t, 0); len(all) < len(early) {
			t.Errorf("the reader who was behind got %d events, want all", len(all))
		}
	})
}

// TestBoundsOfQuestionsFarBehind: they are counted with what they say.
func TestBoundsOfQuestionsFarBehind(t *testing.T) {
	longtest.Mark(t)
	synctest.Test(t, func(t *testing.T) {
		m, task, j := askingMachine(t, time.Time{})
		slow, quick := pull(m.resume(task.ID, "")), pull(m.resume(task.ID, ""))
		defer slow.stop()
		defer quick.stop()
		slow.take(t, 1)
		quick.take(t, 1)
		var early []weak.Pointer[feed.Event]
		large := strings.Repeat("x", 100<<10)
		for i := range 70 {
			id := fmt.Sprint("q", i)
			j.observe(agent.Question{ID: id, Text: large})
			early = append(early, weak.Make(quick.take(t, 1)[0]))
			j.observe(agent.Answered{ID: id})
			quick.take(t, 1)
		}
		runtime.GC()
		kept := 0
		for _, event := range early {
			if event.Value() != nil {
				kept++
			}
		}
		if kept > 42 {
			t.Errorf("%d of %d questions are kept for a reader who is behind", kept, len(early))
		}
		j.answer("done")
		if all := slow.take(t, 0); show(all[len(all)-1].Event) != "status completed" {
			t.Errorf("the reader who was behind gets %s at last", show(all[len(all)-1].Event))
		}
	})
}

// TestBoundsOfAJournalThatGrows: what the journal has behind the place that the
// reader catches up with is no gap.
func TestBoundsOfAJournalThatGrows(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for n := range 4 { // the last page that is read ends in a batch of each place
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(t)
			task := begin(t, m.e, request("m1", "c", "hi"))
			j := m.r.next(t).start()
			slow := pull(m.resume(task.ID, ""))
			defer slow.stop()
			events := slow.take(t, 1)
			j.pieces(100+n, func() {})
			events = append(events, slow.take(t, 1)...)
			j.pieces(20, func() {})
			j.end(agent.Ended{Outcome: agent.Completed})
			events = append(events, slow.take(t, 0)...)
			for i, event := range events[1:] {
				if _, again := event.Event.(*a2a.Task); again {
					t.Errorf("%d pieces: event %d is the whole task again", 100+n, i+1)
				}
			}
		})
	}
}

// TestCallerOfALongTurn: what is published while a caller waits for the end is not kept for
// it.
func TestCallerOfALongTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		done := make(chan error, 1)
		go func() {
			_, err := m.e.SendMessage(context.Background(), request("m1", "c", "hi"))
			done <- err
		}()
		j := m.r.next(t).start()
		quick := pull(m.resume(a2a.TaskID(j.ID[:36]), ""))
		quick.take(t, 1)
		var early weak.Pointer[feed.Event]
		j.pieces(1, func() { early = weak.Make(quick.take(t, 1)[0]) })
		quick.stop()
		j.pieces(40, func() {})
		if runtime.GC(); early.Value() != nil {
			t.Error("an event is kept for a caller who waits for the end")
		}
		j.answer("done")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestReaderBehindABrokenJournal: nothing is let go of that is nowhere else.
func TestReaderBehindABrokenJournal(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		journal := &brokenJournal{Journal: newJournal(t)}
		r := newRunner()
		e := newEngine(t, r, func(c *tasks.Config) { c.Journal = journal })
		task := begin(t, e, request("m1", "c", "hi"))
		j := r.next(t).start()
		slow := pull(e.Resume(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}, ""))
		defer slow.stop()
		first := slow.take(t, 1)
		journal.broken.Store(true)
		j.pieces(100, func() {})
		rest := slow.take(t, 100)
		if got, want := ids(append(first, rest...)), places(1, len(rest)); got != want {
			t.Errorf("the reader got %s, want %s", got, want)
		}
		journal.broken.Store(false)
		j.end(agent.Ended{Outcome: agent.Completed})
		rest = append(first, append(rest, slow.take(t, 0)...)...)
		if want := content(get(t, e, task.ID)); !maps.Equal(fold(t, bare(rest)), want) {
			t.Error("the reader has another text")
		}
	})
}

// places are those of an epoch up to n.
func places(epoch, n int) string {
	all := make([]string, 0, n+1)
	for i := range n + 1 {
		all = append(all, fmt.Sprintf("%d.%d", epoch, i+1))
	}
	return strings.Join(all, " ")
}
