package tasks

import (
	"fmt"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// putBehind counts what has its turn behind it.
func (t *state) putBehind(bytes int) {
	t.past += bytes
	t.engine.past.change(t.ofPeer(), bytes, 0)
}

// forgetPast counts none of it any more: the task leaves memory.
func (t *state) forgetPast() { t.putBehind(-t.past) }

// roomForMore refuses a further message to a task that has too much behind it, or that is one of many
// that have, as one that has ended does: a message that names no task makes one then. An answer that
// turns wait for has room in any case.
func (t *state) roomForMore(in *incoming) error {
	switch {
	case t.turns == 0 || len(in.answers) > 0:
		return nil
	case t.past > mostPast:
		return refusal.New(a2a.ErrUnsupportedOperation, "task %q has %s of messages and answers behind it, and takes no more; "+
			"send the message without a taskId, in the same context", t.id, mib(t.past))
	case t.engine.past.isFull(t.ofPeer()):
		return refusal.New(a2a.ErrUnsupportedOperation, "tasks that have not ended have too many messages and answers behind them, or before them; "+
			"send the message again when some have ended, or without a taskId")
	}
	return nil
}

// takesMore is roomForMore under the lock.
func (t *task) takesMore(in *incoming) error {
	t.lock()
	defer t.unlock()
	return t.roomForMore(in)
}

// goesOn says that a further message of the task waits.
func (r *run) goesOn() {
	r.further = true
	r.task.engine.past.change(r.task.ofPeer(), r.weight, 1)
}

// isBehind says that the message of the run has its turn behind it, or was taken back.
func (r *run) isBehind() {
	if r.further {
		r.further = false
		r.task.engine.past.change(r.task.ofPeer(), -r.weight, -1)
	}
}

// countPast counts what an earlier process has left of a task: all but what is still to have its turn.
func (t *state) countPast() {
	var n sizes.Heap
	for _, m := range t.history {
		if slices.ContainsFunc(t.runs, func(r *run) bool { return r.message == m }) {
			continue
		}
		was := n
		n += weightOfTask
		n.Message(m)
		if m.Role == a2a.MessageRoleAgent {
			t.asked += int(n - was)
		}
	}
	for _, a := range t.artifacts {
		if a.name == keys.NameMessage && rank(a) > 0 { // it may have been a turn's answer
			n += sizes.Heap(a.text.Len())
		}
	}
	t.putBehind(int(n))
	if t.turns > 1 {
		for _, r := range t.runs {
			r.goesOn()
		}
	}
}

func mib(bytes int) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// leave takes the run out of its task.
func (r *run) leave() {
	r.isBehind()
	r.task.putBehind(r.weight)
	r.task.runs = slices.DeleteFunc(r.task.runs, func(other *run) bool { return other == r })
}
