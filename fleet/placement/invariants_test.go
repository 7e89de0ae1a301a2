package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// TestInvariants does whatever can be done, at random, and looks at the placer after each.
func TestInvariants(t *testing.T) {
	for seed := range uint64(300) {
		r := &random{T: t, p: New(), d: rand.New(rand.NewPCG(seed, 1))}
		for range 300 {
			r.did = r.step()
			if r.look(); t.Failed() {
				t.Fatalf("seed %d, after: %s", seed, r.did)
			}
		}
	}
}

// random does things to few machines and conversations, so that they meet.
type random struct {
	*testing.T
	p     *Placer
	d     *rand.Rand
	turns []*Turn // not ended, as far as the caller knows
	did   string
}

func (r *random) step() string {
	m, c := fmt.Sprint("m", r.d.IntN(4)), fmt.Sprint("c", r.d.IntN(5))
	switch r.d.IntN(12) {
	case 0, 1:
		s := wire.Status{Name: m, Turns: r.d.IntN(3), Taken: r.d.IntN(2), Draining: r.d.IntN(5) == 0}
		if r.d.IntN(2) == 0 {
			s.Labels = map[string]string{"gpu": "yes"}
		}
		r.p.Report(s)
		return fmt.Sprintf("report %+v", s)
	case 2:
		r.p.Doubt(m)
		return "doubt " + m
	case 3:
		r.p.Lose(m)
		return "lose " + m
	case 4:
		r.p.Remove(m)
		return "remove " + m
	case 5:
		r.p.Forget(c)
		return "forget " + c
	case 6:
		r.p.Load(c, m)
		return "load " + c + " on " + m
	case 7:
		r.p.Settle()
		return "settle"
	case 8, 9:
		return r.endOne()
	}
	ask := Ask{Conversation: c, Movable: r.d.IntN(3) > 0}
	if r.d.IntN(4) == 0 {
		ask.Needs = Labels{"gpu": "yes"}
	}
	r.turns = append(r.turns, r.p.Place(ask))
	return fmt.Sprintf("place %+v", ask)
}

func (r *random) endOne() string {
	if len(r.turns) == 0 {
		return "nothing"
	}
	i := r.d.IntN(len(r.turns))
	t := r.turns[i]
	if r.d.IntN(3) == 0 {
		r.turns[i] = t.Refused()
		return "refuse a turn of " + t.of.name
	}
	t.End()
	r.turns = slices.Delete(r.turns, i, i+1)
	return "end a turn of " + t.of.name
}

// look checks what holds between two calls.
func (r *random) look() {
	for _, c := range r.p.conversations {
		r.lookAtConversation(c)
	}
	for _, m := range r.p.machines {
		placed := 0
		for _, c := range r.p.conversations {
			if c.on == m {
				placed++
			}
		}
		if placed != m.placed {
			r.Errorf("%s counts %d conversations, and has %d", m.name, m.placed, placed)
		}
		if m.state == Left && placed+len(m.running) == 0 {
			r.Errorf("%s has left, and is kept", m.name)
		}
		for t := range m.running {
			if t.stage != running || t.on != m || t.of.turn != t {
				r.Errorf("a turn of %s is said to run on %s", t.of.name, m.name)
			}
		}
		r.lookAtLine(&m.line)
	}
	for key, l := range r.p.free {
		if len(*l) == 0 {
			r.Errorf("an empty line is kept for %q", key)
		}
		r.lookAtLine(l)
	}
	if len(r.p.order) != len(r.p.machines) {
		r.Errorf("%d machines of %d in the order", len(r.p.order), len(r.p.machines))
	}
	for _, t := range r.turns {
		if t.stage == waiting && !slices.Contains(t.of.waiting, t) || t.stage != waiting && t.in != nil {
			r.Errorf("a turn of %s is lost: %+v", t.of.name, t)
		}
	}
}

func (r *random) lookAtConversation(c *conversation) {
	if c.on == nil && c.turn == nil && len(c.waiting) == 0 {
		r.Errorf("%s is kept for nothing", c.name)
	}
	if c.on != nil && r.p.machines[c.on.name] != c.on {
		r.Errorf("%s is on %s, which is not known", c.name, c.on.name)
	}
	if c.turn != nil {
		if _, there := c.turn.on.running[c.turn]; !there {
			r.Errorf("the turn of %s runs nowhere", c.name)
		}
	}
	for i, t := range c.waiting {
		if first := i == 0 && c.turn == nil; first != (t.in != nil) {
			r.Errorf("turn %d of %s stands in a line: %t", i, c.name, t.in != nil)
		}
		if t.in == nil {
			continue
		}
		if !slices.Contains(*t.in, t) {
			r.Errorf("the line of %s does not have its turn", c.name)
		}
		if t.mayMove() != (r.p.free[t.ask.Needs.String()] == t.in) || !t.mayMove() && t.in != &c.on.line {
			r.Errorf("%s stands in another line than what it waits for", c.name)
		}
		if m := r.p.choose(t); m != nil {
			r.Errorf("%s waits, and %s has room for it", c.name, m.name)
		}
	}
}

func (r *random) lookAtLine(l *line) {
	for i, t := range *l {
		if t.in != l || t.stage != waiting || i > 0 && (*l)[i-1].seq >= t.seq {
			r.Errorf("a turn of %s is out of its line", t.of.name)
		}
	}
}
