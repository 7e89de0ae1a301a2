package placement

import (
	"cmp"
	"slices"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A Placer knows machines, the conversations on them, and the turns that run or wait. Create it with [New].
//
// Between two calls no turn waits for which there is a machine: each change is followed by what it makes possible.
type Placer struct {
	mu            sync.Mutex
	machines      map[string]*machine
	order         []*machine // the same; the order decides nothing
	conversations map[string]*conversation
	free          map[string]*line // turns that wait for any machine with certain labels, by these
	seq           uint64
}

// A conversation has a machine, or has not yet had one.
type conversation struct {
	name    string
	hash    uint64
	on      *machine
	turn    *Turn // that runs
	waiting line  // the first of these stands in a line of the placer if no turn runs
}

// New returns a placer that knows nothing.
func New() *Placer {
	return &Placer{machines: map[string]*machine{}, conversations: map[string]*conversation{}, free: map[string]*line{}}
}

// Load says that a conversation is on a machine, as the store has it. A machine that has not reported yet is waited for, until
// [Placer.Settle].
func (p *Placer) Load(name, on string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conversation(name)
	p.put(c, p.machine(on))
	p.again(c)
}

// Settle says that the machines of the roster have had their time to report after the start: those that are only known from the
// store have left.
func (p *Placer) Settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range slices.Clone(p.order) {
		if m.state == Awaited {
			m.state = Left
			p.changed(m)
		}
	}
}

// Report says how a machine stands. One that was not known has joined; one that was lost is back.
func (p *Placer) Report(s wire.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.machine(s.Name)
	if m.hear(s) {
		p.changed(m)
	} else {
		p.serve(m)
	}
}

// Doubt says that a machine that was up has not reported for a moment.
func (p *Placer) Doubt(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.machines[name]; m != nil && m.state == Up {
		m.state = Doubted
		p.changed(m)
	}
}

// Lose says that a machine is gone, and that nothing runs on it any more: the turns there are over, and need no [Turn.End].
func (p *Placer) Lose(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.machines[name]
	if m == nil {
		return
	}
	if m.state != Left {
		m.state = Lost
	}
	var next line // of the conversations whose turns are over
	for t := range m.running {
		t.finish(m)
		p.next(t.of)
		if len(t.of.waiting) > 0 {
			next.insert(t.of.waiting[0])
		}
		p.tidy(t.of)
	}
	p.changed(m)
	for _, t := range next {
		p.try(t)
	}
}

// Remove says that a machine stands in the roster no more. The turns there go on to their ends.
func (p *Placer) Remove(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.machines[name]; m != nil {
		m.state = Left
		p.changed(m)
	}
}

// Forget takes a conversation from its machine. A turn that runs goes on to its end.
func (p *Placer) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.conversations[name]
	if c == nil {
		return
	}
	p.put(c, nil)
	p.again(c)
	p.tidy(c)
}

// Where is the machine that a conversation is on; empty if it is on none.
func (p *Placer) Where(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conversations[name]; c != nil && c.on != nil {
		return c.on.name
	}
	return ""
}

// A Machine is what is known of a machine, to be shown.
type Machine struct {
	Name     string
	State    State
	Draining bool
	Trouble  string
	Labels   Labels // not to be written
	Turns    int    // that may run on it at a time
	Running  int    // of ours
	Others   int    // that run, and are not ours
	Waiting  int    // turns that wait for this machine alone
	Placed   int    // conversations
}

// Machines are those that are known, by their names.
func (p *Placer) Machines() []Machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Machine, 0, len(p.order))
	for _, m := range p.byName() {
		all = append(all, Machine{
			Name: m.name, State: m.state, Draining: m.draining, Trouble: m.trouble, Labels: m.labels,
			Turns: m.turns, Running: len(m.running), Others: m.others, Waiting: len(m.line), Placed: m.placed,
		})
	}
	return all
}

// machine is one by its name. A new one is awaited.
func (p *Placer) machine(name string) *machine {
	m := p.machines[name]
	if m == nil {
		m = &machine{name: name, hash: hashOf(name), state: Awaited, running: map[*Turn]struct{}{}}
		p.keep(m)
	}
	return m
}

func (p *Placer) keep(m *machine) {
	p.machines[m.name] = m
	p.order = append(p.order, m)
}

func (p *Placer) conversation(name string) *conversation {
	c := p.conversations[name]
	if c == nil {
		c = &conversation{name: name, hash: hashOf(name)}
		p.conversations[name] = c
	}
	return c
}

// put moves a conversation to a machine, or to none.
func (p *Placer) put(c *conversation, to *machine) {
	from := c.on
	if from == to {
		return
	}
	c.on = to
	if to != nil {
		to.placed++
	}
	if from != nil {
		from.placed--
		p.drop(from)
	}
}

// drop forgets a machine that has left, and that nothing is on.
func (p *Placer) drop(m *machine) {
	if m.state == Left && m.placed == 0 && len(m.running) == 0 && p.machines[m.name] == m {
		delete(p.machines, m.name)
		i := slices.Index(p.order, m)
		p.order = slices.Delete(p.order, i, i+1)
	}
}

// tidy forgets a conversation of which nothing is known any more.
func (p *Placer) tidy(c *conversation) {
	if c.on == nil && c.turn == nil && len(c.waiting) == 0 && p.conversations[c.name] == c {
		delete(p.conversations, c.name)
	}
}

func (p *Placer) byName() []*machine {
	all := slices.Clone(p.order)
	slices.SortFunc(all, func(a, b *machine) int { return cmp.Compare(a.name, b.name) })
	return all
}
