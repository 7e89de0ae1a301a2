package retention

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestUsedWhileItIsWeighed: a conversation that is used again while it is weighed stays, and one that was
// used by a clock that was ahead goes.
func TestUsedWhileItIsWeighed(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration // of the clock when it was used
		again bool
		left  int
	}{
		"used again": {-3 * time.Hour, true, 1}, "not used": {-3 * time.Hour, false, 0},
		"used by a clock that was ahead": {24 * time.Hour, false, 0}, "and again by one that is not": {24 * time.Hour, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			clock := time.Now().Add(c.ahead)
			s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Now: func() time.Time { return clock }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			h := newHouse(t, 0)
			h.store = s
			const key, thread = "peer:bob", "01a1fdb0-fdfb-7181-b145-979588c98a06"
			n := 0
			use := func() {
				n++
				id := fmt.Sprint("t", n)
				m := store.Message{Key: store.Key{Message: id}, TaskID: id, Job: id, Conversation: key, Body: []byte("{}")}
				if err := errors.Join(
					s.Accept(t.Context(), m, store.Head{ID: id, Context: id, Conversation: key, State: "working"}),
					s.Begin(t.Context(), id, 1, key, thread, "", ""),
					s.Write(t.Context(), store.Change{Head: &store.Head{ID: id, State: "completed", Ended: true}, Ended: []string{id}}),
				); err != nil {
					t.Fatal(err)
				}
			}
			use()
			h.file(thread, "0123456789")
			now := time.Now()
			h.most = func() int64 { // is asked once the files are weighed
				if clock = now.Add(time.Second); c.again {
					use()
				}
				return 5
			}
			if err := h.makeRoom(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			if left, err := s.LatestConversations(t.Context(), 10); err != nil || len(left) != c.left {
				t.Errorf("left are %v (%v), want %d", left, err, c.left)
			}
		})
	}
}
