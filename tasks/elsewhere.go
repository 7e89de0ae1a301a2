package tasks

import (
	"context"
	"fmt"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// elsewhere are the jobs whose messages another process has answered since they were accepted here.
func (e *Engine) elsewhere(ctx context.Context) (map[string]bool, error) {
	if e.cfg.Elsewhere == nil {
		return nil, nil
	}
	jobs, err := e.cfg.Elsewhere(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for what was answered elsewhere: %w", err)
	}
	all := make(map[string]bool, len(jobs))
	for _, job := range jobs {
		all[job] = true
	}
	return all, nil
}

// withdraw takes out of what is left of a task the messages that were answered elsewhere, and what their turns have
// asked. The change ends them. A message that was handed to the turn of one of them may have run its tools.
func withdraw(pending *store.Pending, gone map[string]bool) (store.Change, error) {
	var change store.Change
	tool := false
	pending.Messages = slices.DeleteFunc(slices.Clone(pending.Messages), func(m store.Message) bool {
		if gone[m.Job] {
			change.Ended, tool = append(change.Ended, m.Job), tool || m.Tool
		}
		return gone[m.Job]
	})
	if len(change.Ended) == 0 {
		return change, nil
	}
	for i := range pending.Messages {
		if m := &pending.Messages[i]; m.Attempt > 0 {
			m.Tool = m.Tool || tool
		}
	}
	left := make([]store.Question, 0, len(pending.Questions))
	for _, row := range pending.Questions {
		q, _, err := readQuestion(row)
		if err != nil {
			return change, err
		}
		if gone[q.job] {
			change.Drop = append(change.Drop, row.ID)
		} else {
			left = append(left, row)
		}
	}
	pending.Questions = left
	return change, nil
}

// settleElsewhere ends what was withdrawn, and the task, if nothing else is left of it.
func (t *state) settleElsewhere(change store.Change) {
	if len(change.Ended) == 0 {
		return
	}
	t.engine.log.Info("a message was answered elsewhere, and its turn is not taken up", "task_id", t.id, "messages", len(change.Ended))
	if len(t.runs) == 0 && len(t.questions) == 0 {
		t.canceling, t.canceled = true, true
		t.ending = &ending{state: a2a.TaskStateCanceled}
		t.end(change)
		return
	}
	row := t.row()
	change.Head = &row
	t.save(change)
}
