package tasks

import (
	"sync"
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

// What a task tells again and again, beside its progress, stays in the journal likewise, and a start
// reads it. Each has a bound of its own for a task; all that all tasks have told so that have not
// ended has one, too, and other agents' tasks have a part of that.
const (
	mostTold      = 16 << 20
	mostToldOfAll = 8 * mostTold
	peersTold     = mostToldOfAll / 4
)

// A repeat is one of them.
type repeat int

const (
	ofAsks   repeat = iota // each event of a question has all that are open
	ofDiffs                // a diff is shown whole before each message that it has changed before
	ofDrafts               // of a message another text than what was streamed may be the last word
)

// A retold counts the bytes that a task has told of each, in this process: a start begins anew.
// It is part of its task's state.
type retold struct {
	bytes [3]int
	peer  bool // the task's conversation is one with another agent
	all   *retoldOfAll
}

// may reports whether there is room for so many bytes more. What others have told leaves a task the
// first of each: they must not keep it from streaming.
func (r *retold) may(what repeat, bytes int) bool {
	had := r.bytes[what]
	return had+bytes <= mostTold && (had == 0 || r.all.may(r.peer, bytes))
}

func (r *retold) count(what repeat, bytes int) {
	r.bytes[what] += bytes
	r.all.change(r.peer, bytes)
}

// forget counts none of them any more: the task leaves memory.
func (r *retold) forget() {
	for what, bytes := range r.bytes {
		r.count(repeat(what), -bytes)
	}
}

// A retoldOfAll counts what those have told that have not ended.
type retoldOfAll struct {
	mu         sync.Mutex // guards the fields below
	all, peers int
}

func (a *retoldOfAll) change(peer bool, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all += bytes
	if peer {
		a.peers += bytes
	}
}

func (a *retoldOfAll) may(peer bool, bytes int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if peer {
		return a.peers+bytes <= peersTold && a.all+bytes <= mostToldOfAll
	}
	// What other agents' have beyond their share is not at the cost of the user's.
	return a.all-max(a.peers-peersTold, 0)+bytes <= mostToldOfAll
}
