package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// endAs accepts a message as a task of a class and ends it, with what is still to be sent.
func endAs(t *testing.T, s *Store, id string, class Class, body []byte, outbox ...Delivery) {
	t.Helper()
	m, h := message(0, id)
	m.Key.Message, m.Job, m.Body = id, id+".1", body
	if class != ran {
		h.Class = class
	}
	must(t, s.Accept(t.Context(), m, h))
	if class == ran {
		must(t, s.Begin(t.Context(), m.Job, 1, "c", "thread", "", ""))
	}
	h.Ended = true
	must(t, s.Write(t.Context(), Change{Head: &h, Ended: []string{m.Job}, Outbox: outbox}))
}

// endMany ends tasks whose ids are a name and their numbers.
func endMany(t *testing.T, s *Store, name string, n int, class Class, outbox ...Delivery) {
	t.Helper()
	for i := range n {
		endAs(t, s, fmt.Sprintf("%s-%d", name, i), class, nil, outbox...)
	}
}

// wantKept checks how many tasks of each name are there.
func wantKept(t *testing.T, s *Store, want map[string]int) {
	t.Helper()
	must(t, s.Sweep(t.Context()))
	page, err := s.Tasks(t.Context(), Query{Limit: 10_000})
	must(t, err)
	kept := map[string]int{}
	for _, task := range page.Tasks {
		name, _, _ := strings.Cut(task.ID, "-")
		kept[name]++
	}
	equal(t, kept, want)
}

// TestManyOfAClassTakeNothingOfOthers has more than is kept of what costs nothing.
func TestManyOfAClassTakeNothingOfOthers(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 20}})
	endMany(t, s, "turn", 5, ran)
	endMany(t, s, "canceled", 5, Unrun)
	endMany(t, s, "peers", 5, UnrunOfPeer)
	clock.advance(time.Second)
	endMany(t, s, "status", 50, Harmless)
	clock.advance(1)
	wantKept(t, s, map[string]int{"turn": 5, "canceled": 5, "peers": 5, "status": 20})
	must(t, second(s.Task(t.Context(), "status-49")))

	endMany(t, s, "flood", 50, UnrunOfPeer)
	wantKept(t, s, map[string]int{"turn": 5, "canceled": 5, "peers": 5, "status": 20, "flood": 50}) // their senders have a minute to look
	clock.advance(time.Minute + 1)
	wantKept(t, s, map[string]int{"turn": 5, "canceled": 5, "status": 20, "flood": 20})
}

// TestWhatRanIsKeptForAnHour however many there are: a message that is sent again is known.
func TestWhatRanIsKeptForAnHour(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 20}})
	endMany(t, s, "turn", 50, ran)
	endMany(t, s, "canceled", 50, Unrun)
	clock.advance(time.Hour)
	wantKept(t, s, map[string]int{"turn": 50, "canceled": 20})
	clock.advance(1)
	wantKept(t, s, map[string]int{"turn": 20, "canceled": 20})
}

// TestWhatIsToldOfItselfRan has an attempt that is known of by its turn alone, with the end.
func TestWhatIsToldOfItselfRan(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 1}})
	for i := range 3 {
		m, h := accept(t, s, i, fmt.Sprint("turn-", i))
		h.Ended = true
		must(t, s.Write(t.Context(), Change{Head: &h, Ended: []string{m.Job}, Turn: &Turn{Job: m.Job, Attempt: 1, Thread: "thread"}}))
		must(t, s.Write(t.Context(), Change{Head: &h})) // once more
	}
	clock.advance(2 * time.Minute)
	wantKept(t, s, map[string]int{"turn": 3})
}

// each does something with all ids, up to the first failure.
func each(ids []int64, do func(int64) error) error {
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
	}
	return nil
}

// TestWhatIsToBeSentIsKept until it has arrived, or has been given up, or should have been.
func TestWhatIsToBeSentIsKept(t *testing.T) {
	ids := []int64{1, 2, 3, 4, 5}
	for name, over := range map[string]func(*Store, *clock) error{
		"sent": func(s *Store, _ *clock) error {
			return each(ids, func(id int64) error { return s.FinishDelivery(t.Context(), id) })
		},
		"dead": func(s *Store, _ *clock) error {
			return each(ids, func(id int64) error { return s.GiveUpDelivery(t.Context(), id) })
		},
		"stuck": func(_ *Store, c *clock) error { c.advance(Patience); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 2}})
			endMany(t, s, "owes", len(ids), ran, Delivery{Kind: "push", Target: "t"})
			clock.advance(time.Second)
			endMany(t, s, "later", 5, ran)
			clock.advance(2 * time.Hour)
			wantKept(t, s, map[string]int{"owes": 5})
			must(t, over(s, clock))
			wantKept(t, s, map[string]int{"owes": 2})
		})
	}
}

// TestNoticeIsKeptUntilItIsSent has one that failed and is tried again by itself.
func TestNoticeIsKeptUntilItIsSent(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 2}})
	endWith(t, s, "owes", Notice{Target: "http://x", Status: NoticeFailed, Due: clock.Now()})
	endWith(t, s, "asked", Notice{Target: "http://x", Status: NoticeFailed})
	clock.advance(time.Second)
	endWith(t, s, "later", Notice{})
	clock.advance(time.Hour)
	wantKept(t, s, map[string]int{"owes": 1, "later": 1})
	must(t, s.SetNotice(t.Context(), Notice{Task: "owes", Status: NoticeSent, Due: clock.Now()}))
	endMany(t, s, "new", 1, Unrun)
	wantKept(t, s, map[string]int{"later": 1, "new": 1})
}

// TestReceiverThatIsDownKeepsTwiceAsMany tasks, and no more, of what costs its sender nothing.
func TestReceiverThatIsDownKeepsTwiceAsMany(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 20}})
	endMany(t, s, "status", 100, Harmless, Delivery{Kind: "push", Target: "t"})
	clock.advance(time.Minute)
	wantKept(t, s, map[string]int{"status": 40})
	endMany(t, s, "quiet", 5, Harmless)
	clock.advance(1)
	wantKept(t, s, map[string]int{"status": 40})
}

// TestWhatIsPassedOverIsPassedOnce in a sweep, however many of its steps follow.
func TestWhatIsPassedOverIsPassedOnce(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 1}})
	endMany(t, s, "owes", 10*stepTasks, ran, Delivery{Kind: "push", Target: "t"})
	clock.advance(2 * time.Hour)
	must(t, s.catalog(t.Context(), "look"))
	for range 2 { // it looks again the next time
		steps := 0
		for more := true; more; steps++ {
			must(t, s.do(t.Context(), "sweep", relaxed, func(c *conn) (err error) {
				more, err = c.sweepPortion(s.retention, clock.Now(), clock.Now(), &portion{rows: stepRows, bytes: stepBytes, time: time.Hour})
				return err
			}))
		}
		if steps < 5 || steps > 15 {
			t.Errorf("a sweep has %d steps", steps)
		}
	}
}

// TestLargeFileSparesWhatIsToBeSent and, where it is twice too large, takes first what codex
// has not worked for, and last what is still to be sent.
func TestLargeFileSparesWhatIsToBeSent(t *testing.T) {
	const mib = 1 << 20
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Bytes: 8 * mib}})
	large := bytes.Repeat([]byte("x"), mib)
	end := func(name string, n int, class Class, outbox ...Delivery) {
		t.Helper()
		for i := range n {
			endAs(t, s, fmt.Sprintf("%s-%d", name, i), class, large, outbox...)
		}
		clock.advance(time.Second)
	}
	end("owes", 5, ran, Delivery{Kind: "push", Target: "t"})
	end("turn", 5, ran)
	clock.advance(time.Hour)
	wantKept(t, s, map[string]int{"owes": 5, "turn": 2})

	end("new", 5, ran)
	end("canceled", 10, Unrun)
	clock.advance(2 * time.Minute)
	wantKept(t, s, map[string]int{"owes": 5, "new": 5, "canceled": 5}) // 16 MiB, and the hour counts again

	end("flood", 10, ran)
	clock.advance(2 * time.Minute)
	wantKept(t, s, map[string]int{"owes": 5, "flood": 10})
	end("due", 20, ran, Delivery{Kind: "push", Target: "t"})
	clock.advance(2 * time.Minute)
	wantKept(t, s, map[string]int{"due": 15})
}

// TestLiveTaskTakesNoOthersPlace, however much it has told.
func TestLiveTaskTakesNoOthersPlace(t *testing.T) {
	const mib = 1 << 20
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Bytes: 4 * mib}})
	for i := range 3 {
		endAs(t, s, fmt.Sprintf("old-%d", i), ran, bytes.Repeat([]byte("x"), mib))
	}
	_, live := accept(t, s, 1, "live-0")
	for i := range int64(12) {
		must(t, s.Write(t.Context(), Change{Head: &live, Epoch: 1, Events: []Events{{First: i + 1, Last: i + 1, Epoch: 1, Body: bytes.Repeat([]byte("x"), mib)}}}))
	}
	clock.advance(2 * time.Hour)
	wantKept(t, s, map[string]int{"old": 3, "live": 1})
	live.Ended = true
	must(t, s.Write(t.Context(), Change{Head: &live}))
	clock.advance(time.Minute)
	wantKept(t, s, map[string]int{"live": 1})
}

// TestWhatMayGoIsFoundByItsIndex and not among all that has ended.
func TestWhatMayGoIsFoundByItsIndex(t *testing.T) {
	s := open(t, Config{})
	for text, want := range map[string]string{
		endedTasks:  "SEARCH tasks USING COVERING INDEX tasks_ended (class=? AND ended_at>? AND ended_at<?)",
		stillToSend: "SEARCH outbox USING INDEX outbox_of_task (task=?)",
	} {
		plan := explained(t, s, text)
		if !slices.Contains(plan, want) || slices.ContainsFunc(plan, func(step string) bool {
			return strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN tasks")
		}) {
			t.Errorf("%s: %q", text, plan)
		}
	}
}

// TestTasksOfAnEarlierVersion are taken for such as ran: it has not said what they were.
func TestTasksOfAnEarlierVersion(t *testing.T) {
	clock, dir := newClock(), t.TempDir()
	all, err := migrations(embedded)
	must(t, err)
	path := filepath.Join(dir, "state.db")
	earlier := upgrade{path: path, all: all[:7], now: clock.Now()}
	must(t, create(earlier))
	c, err := connect(earlier, 0)
	must(t, err)
	for _, id := range []string{"old-1", "old-2", "old-3"} {
		must(t, second(c.exec(`INSERT INTO tasks (id, context_id, conversation, state, at, created, ended_at, head)
			VALUES (?1, 'c', 'c', 'completed', ?2, ?2, ?2, x'')`, id, nanos(clock.Now()))))
	}
	must(t, c.close())
	s := open(t, Config{Dir: dir, Now: clock.Now, Retention: Retention{Tasks: 1}})
	clock.advance(time.Hour)
	wantKept(t, s, map[string]int{"old": 3})
	clock.advance(1)
	wantKept(t, s, map[string]int{"old": 1})
}
