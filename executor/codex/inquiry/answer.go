package inquiry

import (
	"context"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// Wait returns when codex was answered, or has ended: then so has the turn, and it says so.
func (in *Inquiry) Wait(ctx context.Context, q *Question) {
	var expired <-chan time.Time
	if ttl := in.Bounds.TTL; ttl > 0 {
		timer := time.NewTimer(ttl)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-q.Settled:
		return
	case <-ctx.Done():
		return
	case <-expired:
		in.expire(q)
	}
	select {
	case <-q.Settled:
	case <-ctx.Done():
	}
}

// expire declines a question whose time is up.
func (in *Inquiry) expire(q *Question) {
	note := fmt.Sprintf("The question was not answered within %s (CODEX_QUESTION_TTL): it was declined.", in.Bounds.TTL)
	in.give(q, Response{Reply: ask.Reply{Value: q.Asks.Refusal()}, Note: note})
}

// Answer takes the answer to a question, as [executor.Driver] has it.
func (in *Inquiry) Answer(a agent.Answer) error {
	q := in.find(a.Question)
	if q == nil {
		return executor.ErrNotAsked
	}
	if q.isLate() {
		in.expire(q)
		return executor.ErrNotAsked
	}
	posed := q.Posed.Load()
	if posed == nil { // the id was guessed
		return executor.ErrNotAsked
	}
	reply, err := posed.Answer(a)
	if err != nil {
		return err
	}
	reply.Ends = reply.Ends && q.Req.ThreadID == in.ThreadID // a subagent's turn ends alone
	if !in.give(q, Response{Reply: reply}) {                 // expired over it
		return executor.ErrNotAsked
	}
	return nil
}
