package tasks

import (
	"slices"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// What messages may take in memory, with their answers, whose turns have ended while their task has
// not: it has them until then, and a message that is sent to it before each turn ends keeps it from
// ending. Of all tasks together such messages count, too, while they wait.
const (
	mostPast      = 16 << 20 // of a task
	mostPastOfAll = 64 << 20 // of all
	peersPast     = mostPastOfAll - mostPastOfAll/4

	// mostFurther is how many messages may wait, or run, that keep a task from ending: each has in
	// memory what that has said.
	mostFurther  = 128
	peersFurther = mostFurther - mostFurther/4
)

// A past counts what has its turn behind it in tasks that have not ended.
type past struct {
	mu                    sync.Mutex // guards the fields below
	all, peers            int
	further, peersFurther int
}

// change counts more bytes, and more messages that keep a task from ending.
func (p *past) change(peer bool, bytes, further int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all += bytes
	p.further += further
	if peer {
		p.peers += bytes
		p.peersFurther += further
	}
}

func (p *past) isFull(peer bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer {
		return p.peers > peersPast || p.peersFurther >= peersFurther || p.all > mostPastOfAll || p.further >= mostFurther
	}
	// What other agents have taken beyond their share is not at the cost of the user's.
	return p.all > mostPastOfAll && p.all-p.peers > mostPastOfAll-peersPast ||
		p.further >= mostFurther && p.further-p.peersFurther >= mostFurther-peersFurther
}

// putBehind counts what has its turn behind it. The caller holds t.mu.
func (t *task) putBehind(bytes int) {
	t.past += bytes
	t.engine.past.change(t.ofPeer(), bytes, 0)
}

// forgetPast counts none of it any more: the task leaves memory. The caller holds t.mu.
func (t *task) forgetPast() { t.putBehind(-t.past) }

// roomForMore refuses a further message to a task that has too much behind it, or that is one of
// many that have, as one that has ended does: a message that names no task makes one then. An
// answer that turns wait for has room in any case. The caller holds t.mu.
func (t *task) roomForMore(in *incoming) error {
	switch {
	case t.turns == 0 || len(in.answers) > 0:
		return nil
	case t.past > mostPast:
		return refuse(a2a.ErrUnsupportedOperation, "task %q has %s of messages and answers behind it, and takes no more; "+
			"send the message without a taskId, in the same context", t.id, mib(t.past))
	case t.engine.past.isFull(t.ofPeer()):
		return refuse(a2a.ErrUnsupportedOperation, "tasks that have not ended have too many messages and answers behind them, or before them; "+
			"send the message again when some have ended, or without a taskId")
	}
	return nil
}

// takesMore is roomForMore for who does not hold t.mu.
func (t *task) takesMore(in *incoming) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.roomForMore(in)
}

// goesOn says that a further message of the task waits. The caller holds t.mu.
func (r *run) goesOn() {
	r.further = true
	r.task.engine.past.change(r.task.ofPeer(), r.weight, 1)
}

// isBehind says that the message of the run has its turn behind it, or was taken back. The caller
// holds t.mu.
func (r *run) isBehind() {
	if r.further {
		r.further = false
		r.task.engine.past.change(r.task.ofPeer(), -r.weight, -1)
	}
}

// countPast counts what an earlier process has left of a task: all but what is still to have its
// turn. The caller holds t.mu.
func (t *task) countPast() {
	var n heapCount
	for _, m := range t.history {
		if slices.ContainsFunc(t.runs, func(r *run) bool { return r.message == m }) {
			continue
		}
		was := n
		n += weightOfTask
		n.message(m)
		if m.Role == a2a.MessageRoleAgent {
			t.asked += int(n - was)
		}
	}
	for _, a := range t.artifacts {
		if a.name == nameMessage && rank(a) > 0 { // it may have been a turn's answer
			n += heapCount(a.text.Len())
		}
	}
	t.putBehind(int(n))
	if t.turns > 1 {
		for _, r := range t.runs {
			r.goesOn()
		}
	}
}
