package tasks

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A Receipt tells the engine whether the answer to a message has reached its caller.
// It is used by one goroutine, that of the call.
type Receipt struct {
	engine  *Engine
	task    *task // nil if it had ended before
	id      a2a.TaskID
	from    origin.Sender // of the message
	marked  bool
	settled bool
}

type receiptKey struct{}

// WithReceipt returns the context of a call, and the receipt of its answer. The
// transport must settle it.
func WithReceipt(ctx context.Context) (context.Context, *Receipt) {
	r := &Receipt{}
	return context.WithValue(ctx, receiptKey{}, r), r
}

// ReceiptOf returns the receipt of a call; nil, which can be settled, if it has none.
func ReceiptOf(ctx context.Context) *Receipt {
	r, _ := ctx.Value(receiptKey{}).(*Receipt)
	return r
}

// Settle says whether the answer has arrived, as far as that can be known. What is
// said after the first time does not count.
func (r *Receipt) Settle(arrived bool) {
	if r == nil || r.settled {
		return
	}
	r.settled = true
	if r.engine == nil { // it was not about a message, or not one whose answer matters
		return
	}
	left, over, promised := r.release()
	switch {
	case arrived && !promised:
		r.engine.heard(r.id, r.task)
	case arrived || left == 0 && over:
		if r.task != nil {
			r.task.lost()
		}
		r.engine.unheard(r.id, r.task)
	}
}

// release ends the waiting. It reports how many others wait, whether there is something that nobody
// has heard, and whether that was promised to the user, for whom the caller does not stand.
func (r *Receipt) release() (left int, over, promised bool) {
	t := r.task
	if t == nil {
		return 0, true, false
	}
	t.lock()
	defer t.unlock()
	over = t.owed && (t.status.State.Terminal() || reply.NeedsCaller(t.status.State))
	return int(t.waiters.Add(-1)), over, over && t.promised && r.from.IsNobody()
}

// note keeps what is known of the message.
func (r *Receipt) note(from origin.Sender, marked bool) {
	if r != nil {
		r.from, r.marked = from, marked
	}
}

// bindAgain counts the caller of a message that came before. A platform that does not
// mark its user's messages shows nobody the answer to one that it sends again: such a
// caller is answered, and does not count.
func (r *Receipt) bindAgain(e *Engine, id a2a.TaskID) {
	if r == nil || r.settled || r.engine != nil || !r.marked {
		return
	}
	r.engine, r.id, r.task = e, id, e.live.find(id)
	if r.task != nil {
		r.task.waiters.Add(1)
	}
}
