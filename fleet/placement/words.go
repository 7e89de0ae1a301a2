package placement

import (
	"fmt"
	"strings"
)

// A Cause is what kind of thing a turn waits for.
type Cause int

// What turns wait for.
const (
	Nothing  Cause = iota // it does not wait
	Behind                // its conversation has a turn before it
	Room                  // a machine that it may run on is up, and full
	Taker                 // none that it may run on is up, or takes turns
	Stranded              // its machine is lost or has left, and its files cannot be moved
)

// Waits says why a turn waits.
type Waits struct {
	For     Cause
	Machine string // that it waits for alone; empty if any would do
	Text    string // for people: a sentence without its end
}

const mostNames = 5 // of machines in a sentence

// Waits says what the turn waits for at this moment.
func (t *Turn) Waits() Waits {
	p := t.placer
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t.stage != waiting:
		return Waits{}
	case t.in == nil:
		return Waits{For: Behind, Text: "a turn of the same conversation is not over"}
	case !t.mayMove():
		return t.waitsForItsOwn()
	}
	return p.waitsForAny(t.ask.Needs)
}

func (t *Turn) waitsForItsOwn() Waits {
	m := t.of.on
	w := Waits{For: Taker, Machine: m.name}
	does, stays := m.words(), ""
	switch {
	case m.state == Lost, m.state == Left:
		w.For, stays = Stranded, ", and its files cannot be moved"
	case m.state != Up:
	case does != "":
		stays = ", and the conversation's files cannot be moved"
	case !m.fits(t):
		does, stays = "is not one with "+t.ask.Needs.String(), ", and the conversation's files cannot be moved"
	default:
		w.For, does = Room, m.full("is full: ")
	}
	w.Text = fmt.Sprintf("%s, where the conversation works, %s%s", m.name, does, stays)
	return w
}

// words are why a machine takes no turns; empty if it takes some.
func (m *machine) words() string {
	switch {
	case m.state == Doubted:
		return "has not been heard of for a moment"
	case m.state == Awaited:
		return "has not been heard of since the start"
	case m.state == Lost:
		return "is lost"
	case m.state == Left:
		return "is none of the machines any more"
	case m.draining:
		return "drains"
	case m.trouble != "":
		return "takes no turns: " + m.trouble
	}
	return ""
}

// full says how full a machine is that has no room.
func (m *machine) full(is string) string {
	if m.refused && m.others+len(m.running) < m.turns {
		return "has refused a turn"
	}
	return fmt.Sprintf("%s%d of %d", is, m.others+len(m.running), m.turns)
}

func (p *Placer) waitsForAny(needs Labels) Waits {
	full, others := names{}, names{}
	for _, m := range p.byName() {
		if m.state == Awaited && m.labels == nil || !needs.within(m.labels) {
			continue
		}
		if why := m.words(); why != "" {
			others.add(m.name + " " + why)
		} else {
			full.add(m.name + " " + m.full(""))
		}
	}
	with := ""
	if len(needs) > 0 {
		with = " with " + needs.String()
	}
	w := Waits{For: Room}
	switch full.n {
	case 0:
		w.For, w.Text = Taker, fmt.Sprintf("no machine%s is up", with)
		if others.n > 0 {
			w.Text = fmt.Sprintf("no machine%s takes turns", with)
		}
		w.Text += others.behind(": ")
		return w
	case 1:
		w.Text = fmt.Sprintf("the only machine%s is full", with)
	default:
		w.Text = fmt.Sprintf("all %d machines%s are full", full.n, with)
	}
	w.Text += full.behind(": ") + others.behind("; ")
	return w
}

// names are the first of many, and how many there are.
type names struct {
	first []string
	n     int
}

func (l *names) add(name string) {
	if l.n++; l.n <= mostNames {
		l.first = append(l.first, name)
	}
}

func (l *names) behind(mark string) string {
	text := strings.Join(l.first, ", ")
	if more := l.n - mostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if text == "" {
		return ""
	}
	return mark + text
}
