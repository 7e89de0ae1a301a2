package tasks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

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

// A headJournal says when it was asked for the head of a task.
type headJournal struct {
	*store.Store
	asked chan struct{} // 1-buffered
}

func (h headJournal) Head(ctx context.Context, id string) (store.Head, error) {
	defer func() {
		select {
		case h.asked <- struct{}{}:
		default:
		}
	}()
	return h.Store.Head(ctx, id)
}

// TestMessageToATaskThatIsBeingAccepted: a client that lists tasks may see one before it is under way, and send it a
// further message.
func TestMessageToATaskThatIsBeingAccepted(t *testing.T) {
	r := newRunner()
	r.gate = make(chan struct{})
	j := headJournal{newJournal(t), make(chan struct{}, 1)}
	e := newEngine(t, r, func(c *tasks.Config) { c.Journal = j })
	send := func(id, contextID string, task a2a.TaskID) <-chan error {
		sent := make(chan error, 1)
		req := request(id, contextID, "hi")
		req.Message.TaskID, req.Config = task, &a2a.SendMessageConfig{ReturnImmediately: true}
		go func() {
			_, err := e.SendMessage(t.Context(), req)
			sent <- err
		}()
		return sent
	}
	first := send("m1", "c", "")
	<-r.gate
	listed, err := e.ListTasks(t.Context(), &a2a.ListTasksRequest{})
	if err != nil || len(listed.Tasks) != 1 {
		t.Fatalf("%v, %v", listed, err)
	}
	second := send("m2", "", listed.Tasks[0].ID)
	<-j.asked
	r.gate <- struct{}{}
	select {
	case <-r.gate:
		r.gate <- struct{}{}
	case err := <-second:
		t.Fatal(err)
	}
	if one, two := <-first, <-second; one != nil || two != nil {
		t.Errorf("%v, %v", one, two)
	}
}
