package placement

// An Ask is for a turn.
type Ask struct {
	Conversation string
	Needs        Labels // of the machine; not to be written any more
	Movable      bool   // whether the conversation's files, if it has any, can be brought to another machine
}

// A Turn is one that was asked for: it waits, it runs on a machine, it is over. It is made by [Placer.Place], and the caller
// ends it.
type Turn struct {
	placer  *Placer
	ask     Ask
	of      *conversation
	seq     uint64
	changed chan struct{}

	// All below is guarded by the placer's lock.
	stage stage
	in    *line    // that it waits in
	key   string   // of that line, if it waits for any machine
	on    *machine // that it runs on, or has run on
	from  *machine // that its conversation was on, if this turn has moved it or is its first
	moves bool     // whether it is such a turn
}

// A stage of a turn.
type stage int

const (
	waiting stage = iota
	running
	over
)

// Place asks for a turn of a conversation. If there is a machine for it the turn counts as running at once: [Turn.Machine] says
// where. Else it waits: [Turn.Changed] is to be listened to, and [Turn.Waits] says for what.
//
// A conversation has one turn at a time: the next waits.
func (p *Placer) Place(ask Ask) *Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	return p.ask(ask, p.seq)
}

func (p *Placer) ask(ask Ask, seq uint64) *Turn {
	t := &Turn{placer: p, ask: ask, of: p.conversation(ask.Conversation), seq: seq, changed: make(chan struct{}, 1)}
	t.of.waiting.insert(t)
	if t.of.turn == nil && len(t.of.waiting) == 1 {
		if m := p.choose(t); m != nil {
			p.grant(t, m)
		} else {
			p.file(t)
		}
		return t
	}
	p.next(t.of)
	p.try(t)
	return t
}

// Machine is the one that the turn runs on, or has run on; empty while it waits.
func (t *Turn) Machine() string {
	t.placer.mu.Lock()
	defer t.placer.mu.Unlock()
	return nameOf(t.on)
}

// From is the machine that the conversation has left for this turn; empty if it has left none.
func (t *Turn) From() string {
	t.placer.mu.Lock()
	defer t.placer.mu.Unlock()
	return nameOf(t.from)
}

// Changed has a value when the turn has got a machine, or what it waits for may be another thing than before.
func (t *Turn) Changed() <-chan struct{} { return t.changed }

// End says that the turn has ended, or that it is not waited for any more. It may be called again.
func (t *Turn) End() {
	p := t.placer
	p.mu.Lock()
	defer p.mu.Unlock()
	m := t.on
	switch t.stage {
	case waiting:
		p.leave(t)
		t.stage = over
	case running:
		t.finish(m)
		m.refused = false
	case over:
		return
	}
	p.follow(t.of, m)
}

// Refused says that the machine has refused the turn: it has none of ours any more, and gets no other until it reports, or one
// of ours ends there. What is returned is the turn that is asked for in its place, with its place among those that wait. A
// conversation that had come to the machine by this turn is where it was.
func (t *Turn) Refused() *Turn {
	p := t.placer
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.stage == waiting {
		return t
	}
	if t.stage == running {
		t.finish(t.on)
		t.on.refused = true
		if t.moves && t.of.on == t.on {
			p.back(t)
		}
	}
	again := p.ask(t.ask, t.seq)
	p.follow(t.of, t.on)
	return again
}

// back undoes that a turn has moved its conversation, also to a machine that has left since.
func (p *Placer) back(t *Turn) {
	to := t.from
	if to != nil && p.machines[to.name] == nil {
		p.keep(to)
	} else if to != nil {
		to = p.machines[to.name]
	}
	p.put(t.of, to)
}

// finish takes a turn that runs from its machine.
func (t *Turn) finish(m *machine) {
	t.stage = over
	t.of.turn = nil
	delete(m.running, t)
}

func nameOf(m *machine) string {
	if m == nil {
		return ""
	}
	return m.name
}

// tell has the caller look at the turn.
func (t *Turn) tell() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}
