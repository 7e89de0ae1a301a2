package tasks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A meetingJournal has each message that is accepted wait for another one.
type meetingJournal struct {
	*store.Store
	inside atomic.Int32
	most   atomic.Int32
	met    chan struct{} // closed when two are inside
}

func (m *meetingJournal) Accept(ctx context.Context, msg store.Message, head store.Head) error {
	n := m.inside.Add(1)
	defer m.inside.Add(-1)
	if m.most.Store(max(m.most.Load(), n)); n == 2 {
		close(m.met)
	}
	select {
	case <-m.met:
	case <-time.After(300 * time.Millisecond):
	}
	return m.Store.Accept(ctx, msg, head)
}

// TestConversationsAreAcceptedTogether: the journal is given messages of two conversations at the same
// time, and can commit them together. Those of one conversation it is given one after the other.
func TestConversationsAreAcceptedTogether(t *testing.T) {
	for name, want := range map[string]int32{"two": 2, "one": 1} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			m := &meetingJournal{Store: newJournal(t), met: make(chan struct{})}
			e := newEngine(t, r, func(c *tasks.Config) { c.Journal = m })
			contexts := map[string][]string{"two": {"a", "b"}, "one": {"a", "a"}}[name]
			done := make(chan error, 2)
			for i, contextID := range contexts {
				go func() {
					req := request(string(rune('1'+i)), contextID, "hi")
					req.Config.ReturnImmediately = true
					_, err := e.SendMessage(t.Context(), req)
					done <- err
				}()
			}
			for range contexts {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if most := m.most.Load(); most != want {
				t.Errorf("the journal was given %d messages at the same time, want %d", most, want)
			}
		})
	}
}
