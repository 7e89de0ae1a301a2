package store

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// flood accepts messages of a MiB each, and has finish end them.
func flood(t *testing.T, s *Store, name string, n int, finish func(Message, Head)) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s-%d", name, i)
		m, h := message(i, id)
		m.Key.Message, m.Job, m.Body = id, id+".1", bytes.Repeat([]byte("x"), 1<<20)
		must(t, s.Accept(t.Context(), m, h))
		finish(m, h)
	}
}

// keepUp does what the writer does when nothing else is to be done, without its pauses.
func keepUp(t *testing.T, s *Store) {
	t.Helper()
	must(t, s.catalog(t.Context(), "look"))
	s.turn.Lock()
	defer s.turn.Unlock()
	for s.forgetSome(time.Now()); s.upkeep.swept; {
		s.forgetSome(time.Now())
	}
}

// TestFileAfterAFlood is small again at the next upkeep where its messages were withdrawn, and
// soon where their tasks have ended: what they would take for an hour is more than there is for all.
func TestFileAfterAFlood(t *testing.T) {
	longtest.Mark(t)
	clock := newClock()
	const most = 8 << 20
	s := open(t, Config{Now: clock.Now, Retention: Retention{Bytes: most}})
	small := size(t, s.Path())
	flood(t, s, "withdrawn", 40, func(m Message, h Head) {
		if len(m.Job) > len("withdrawn-0.1") { // the first ten make room only at the end
			must(t, s.Withdraw(t.Context(), m.Job, nil))
		}
	})
	for i := range 10 {
		must(t, s.Withdraw(t.Context(), fmt.Sprintf("withdrawn-%d.1", i), nil))
	}
	keepUp(t, s)
	if now := size(t, s.Path()); now > small+4<<20 {
		t.Errorf("with nothing in it, the file has %d bytes; it had %d", now, small)
	}
	end := func(m Message, h Head) {
		h.Ended = true
		must(t, s.Write(t.Context(), Change{Head: &h, Ended: []string{m.Job}, Artifacts: [][]byte{}}))
	}
	flood(t, s, "ended", 12, end)
	keepUp(t, s)
	equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 12}) // within the hour, and no flood
	flood(t, s, "more", 40, end)
	keepUp(t, s)
	equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 52}) // their callers have a minute to look
	clock.advance(2 * time.Minute)
	keepUp(t, s)
	if now := size(t, s.Path()); now > 2*most+4<<20 {
		t.Errorf("two minutes after a flood the file has %d bytes; %d are meant to be the most", now, most)
	}
	if n := rows(t, s, "tasks")["tasks"]; n < 10 || n > 16 {
		t.Errorf("%d tasks are left", n)
	}
	must(t, s.Check(t.Context()))
	if log := size(t, s.Path()+"-wal"); log > 24<<20 { // it is moved when it has 16 MiB
		t.Errorf("the log has %d bytes", log)
	}
}
