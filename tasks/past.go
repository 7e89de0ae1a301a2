package tasks

import (
	"slices"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// What messages may take in memory, with their answers, whose turns have ended while their task has
// not: it has them until then, and a message that is sent to it before each turn ends keeps it from
// ending. What waits or runs is counted where it is queued.
const (
	mostPast      = 16 << 20 // of a task
	mostPastOfAll = 64 << 20 // of all
	peersPast     = mostPastOfAll - mostPastOfAll/4
)

// A past counts what has its turn behind it in tasks that have not ended.
type past struct {
	mu         sync.Mutex // guards the fields below
	all, peers int
}

func (p *past) change(peer bool, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all += by
	if peer {
		p.peers += by
	}
}

func (p *past) isFull(peer bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all > mostPastOfAll || peer && p.peers > peersPast
}

// putBehind counts what has its turn behind it. The caller holds t.mu.
func (t *task) putBehind(bytes int) {
	t.past += bytes
	t.engine.past.change(t.ofPeer(), bytes)
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
		return refuse(a2a.ErrUnsupportedOperation, "tasks that have not ended have too many messages and answers behind them; "+
			"send the message again when some have ended, or without a taskId")
	}
	return nil
}

// countPast counts what an earlier process has left of a task: all but what is still to have its
// turn. The caller holds t.mu, or is alone with it.
func (t *task) countPast() {
	var n heapCount
	for _, m := range t.history {
		if !slices.ContainsFunc(t.runs, func(r *run) bool { return r.message == m }) {
			n += weightOfTask
			n.message(m)
		}
	}
	t.putBehind(int(n) + t.texts)
}
