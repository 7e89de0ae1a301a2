package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
)

// answer gives a message to the turn that asked for it. Without an open question
// it returns nil, and the message is one like any other. Its caller passes meanwhile (admission.go).
func (e *Engine) answer(ctx context.Context, in *incoming, t *task) (*view, error) {
	if t == nil {
		return nil, nil
	}
	if t.answersStale(in) {
		return e.answerStale(ctx, in, t)
	}
	a, err := t.take(ctx, in)
	if a == nil || err != nil {
		return nil, err
	}
	if a.question == nil {
		e.log.Info("an answer was not taken", "task_id", t.id, "unclear", a.unclear, "written", in.written)
		return t.poseAgain(a, a.why), nil
	}
	err = e.cfg.Runner.Answer(a.question.job, agent.Answer{
		ID: a.job, Question: a.question.asked.ID, Input: in.Input, Text: in.Text, Data: in.Data,
		Files: slices.ContainsFunc(in.message.Parts, attach.IsFile),
	})
	if wrong, ok := errors.AsType[*agent.NotUnderstoodError](err); ok {
		return t.poseAgain(a, wrong.Why), nil
	}
	if err == nil {
		t.handed(a)
		return a.view, nil
	}
	e.log.Info("an answer came too late; words become a turn, and data are refused", "task_id", t.id, "err", err)
	t.giveBack(ctx, a)
	if in.Data != nil && in.Text == "" {
		return nil, asksNothing(t)
	}
	return nil, nil
}

// answerStale makes a turn of a message that answers what an earlier process has
// asked. It answers all of it: the new turn asks again what it still needs. Where there can be
// no such turn, the message ends as rejected, a "no" like any other: the question is over, and
// in the way of nothing.
func (e *Engine) answerStale(ctx context.Context, in *incoming, t *task) (*view, error) {
	var open []*question
	carrying := *in
	t.lock()
	for _, q := range t.questions {
		if q.stale() {
			open = append(open, q)
			carrying.answers = append(carrying.answers, q.asked.ID)
		}
	}
	t.unlock()
	carrying.Input = carry(open, in.message, in.Input)
	var err error
	carrying.options, err = goOn(e.cfg.Bounds, in.message, open)
	if lost, ok := errors.AsType[*lostError](err); ok {
		carrying.refused = lost
	} else if err != nil {
		return nil, err
	}
	carrying.message = overrides.Asking(in.message, carrying.options)
	v, err := e.enqueue(ctx, &carrying, t, func(ctx context.Context, m store.Message, _ store.Head) error {
		return t.closeStale(ctx, m, open)
	})
	if err != nil {
		t.reopen(open)
	}
	return v, err
}
