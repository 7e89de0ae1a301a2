package placement

import (
	"cmp"
	"slices"
)

// A line is turns in the order in which they were asked for.
type line []*Turn

func (l line) find(t *Turn) (int, bool) {
	return slices.BinarySearchFunc(l, t, func(a, b *Turn) int { return cmp.Compare(a.seq, b.seq) })
}

func (l *line) insert(t *Turn) {
	i, _ := l.find(t)
	*l = slices.Insert(*l, i, t)
}

func (l *line) remove(t *Turn) {
	if i, there := l.find(t); there {
		*l = slices.Delete(*l, i, i+1)
	}
}

// next puts the first turn of a conversation in the line for what it waits for, if no other of the conversation runs.
func (p *Placer) next(c *conversation) {
	if c.turn != nil || len(c.waiting) == 0 {
		return
	}
	t := c.waiting[0]
	if len(c.waiting) > 1 && c.waiting[1].in != nil {
		p.unfile(c.waiting[1])
	}
	if t.in == nil {
		p.file(t)
	}
}

func (p *Placer) file(t *Turn) {
	if t.mayMove() {
		t.key = t.ask.Needs.String()
		if p.free[t.key] == nil {
			p.free[t.key] = &line{}
		}
		t.in = p.free[t.key]
	} else {
		t.in = &t.of.on.line
	}
	t.in.insert(t)
}

func (p *Placer) unfile(t *Turn) {
	if t.in == nil {
		return
	}
	t.in.remove(t)
	if len(*t.in) == 0 && p.free[t.key] == t.in {
		delete(p.free, t.key)
	}
	t.in = nil
}

// leave takes a turn that waits out of all lines.
func (p *Placer) leave(t *Turn) {
	p.unfile(t)
	t.of.waiting.remove(t)
}

// mayMove says whether any machine will do for a turn, and not only that which its conversation is on.
func (t *Turn) mayMove() bool {
	on := t.of.on
	switch {
	case on == nil:
		return true
	case on.state == Doubted, on.state == Awaited, on.fits(t):
		return false
	}
	return t.ask.Movable
}

// try gives a turn that stands in a line its machine, if there is one with room.
func (p *Placer) try(t *Turn) {
	if t.in == nil {
		return
	}
	if m := p.choose(t); m != nil {
		p.grant(t, m)
	}
}

func (p *Placer) choose(t *Turn) *machine {
	if !t.mayMove() {
		if on := t.of.on; on.fits(t) && on.hasRoom() {
			return on
		}
		return nil
	}
	var best *machine
	for _, m := range p.order {
		if m.hasRoom() && m.fits(t) && (best == nil || m.emptier(best, t.of.hash)) {
			best = m
		}
	}
	return best
}

func (p *Placer) grant(t *Turn, m *machine) {
	p.leave(t)
	t.stage, t.on = running, m
	t.of.turn = t
	m.running[t] = struct{}{}
	if t.of.on != m {
		t.moves, t.from = true, t.of.on
		p.put(t.of, m)
	}
	t.tell()
}

// serve gives a machine's room to those that wait for it, in their order.
func (p *Placer) serve(m *machine) {
	for m.takes() && m.hasRoom() {
		t := p.first(m)
		if t == nil {
			return
		}
		p.grant(t, m)
	}
}

// first is the turn that waits longest, of those that the machine will do for.
func (p *Placer) first(m *machine) (first *Turn) {
	for _, t := range m.line {
		if m.fits(t) {
			first = t
			break
		}
	}
	for _, l := range p.free {
		if t := (*l)[0]; (first == nil || t.seq < first.seq) && m.fits(t) {
			first = t
		}
	}
	return first
}

// follow is what comes of the end of a conversation's turn, on a machine or on none.
func (p *Placer) follow(c *conversation, m *machine) {
	p.next(c)
	if m != nil {
		p.serve(m)
	}
	if len(c.waiting) > 0 {
		p.try(c.waiting[0])
	}
	if m != nil {
		p.drop(m)
	}
	p.tidy(c)
}

// again is what comes of a conversation's having another machine.
func (p *Placer) again(c *conversation) {
	if len(c.waiting) == 0 || c.waiting[0].in == nil {
		return
	}
	t := c.waiting[0]
	p.unfile(t)
	p.file(t)
	p.try(t)
	t.tell()
}

// changed is what comes of a machine's being up or not, draining or not, or having other labels: the turns of its conversations
// wait for something else than before, and those that wait for any machine may be told another reason.
func (p *Placer) changed(m *machine) {
	touched := slices.Clone(m.line)
	for _, l := range p.free {
		for _, t := range *l {
			if t.of.on == m {
				touched.insert(t)
			}
			t.tell()
		}
	}
	for _, t := range touched {
		p.unfile(t)
		p.file(t)
		t.tell()
	}
	p.serve(m)
	for _, t := range touched {
		if t.stage == waiting {
			p.try(t)
		}
	}
	p.drop(m)
}
