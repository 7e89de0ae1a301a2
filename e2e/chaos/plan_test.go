package chaos

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A door is a way into the program.
type door int

// The doors: a method of a version each.
const (
	blocking1 door = iota
	blocking0
	begin1
	begin0
	stream1
	stream0
	doors
)

func (d door) old() bool    { return d == blocking0 || d == begin0 || d == stream0 }
func (d door) stream() bool { return d == stream1 || d == stream0 }

// A fault is what the model does when a message reaches it for the first time.
type fault int

// The faults.
const (
	sound   fault = iota
	drops         // breaks the connection off
	refuses       // 500, which codex tries again
	fails         // 400, which it does not
	hangs         // says nothing
)

// A Message is one that a client of the plan sends.
type Message struct {
	ID      string
	Context string // the conversation; its contextId is this, too
	N       int    // in the conversation
	Command bool   // appends its ID to a file
	Long    time.Duration
	Leaves  bool          // the command leaves a process behind
	Think   time.Duration // until the first word of the model
	Pieces  int           // of the answer, if it is none
	Every   time.Duration
	Door    door
	Twin    bool          // sent twice at the same time, in both versions
	Leave   time.Duration // the client goes away after that, and comes back; 0: it stays
	Stall   time.Duration // the client reads nothing for that long; streams only
	Cancel  time.Duration // after which it is canceled; 0: never
	Follow  bool          // names the task of the message before it
	Retry   bool          // an interrupted task is run again on purpose
	Fault   fault
}

// Text is what the message says.
func (m *Message) Text(file string) string {
	if !m.Command {
		return fmt.Sprintf("Answer %s, please.", m.ID)
	}
	left := ""
	if m.Leaves {
		left = "(setsid sleep 900 >/dev/null 2>&1 &) ; "
	}
	return fmt.Sprintf("run %secho %s | tee -a %s; sleep %.3f", left, m.ID, file, m.Long.Seconds())
}

// Answer is what the model says to it.
func (m *Message) Answer() string {
	if m.Command {
		return m.ID
	}
	var text string
	for n := range m.Pieces {
		text += m.piece(n)
	}
	return text
}

func (m *Message) piece(n int) string { return fmt.Sprintf("%s/%d ", m.ID, n) }

// A strike is one thing that goes wrong.
type strike int

// The strikes.
const (
	killChild strike = iota
	killUs
	killBoth
	killInStart // ours, again while it starts
	stopUs      // SIGTERM
	fillDisk
	finModel  // all connections to the model end in order
	rstModel  // they are reset
	modelAway // they are reset, and new ones for a while
	modelDeaf // they are reset, and WebSockets are refused for a while
	lull      // nothing at all, for longer than the timer that ends a silent turn

	killMachine   // it is started again after a while
	killExec      // codex's exec-server on it
	freezeMachine // SIGSTOP, and SIGCONT after a while: it is silent, and what runs there runs on
	drainMachine  // SIGTERM, and it is started again when it has ended
	strikes
)

func (s strike) String() string {
	return [...]string{
		"codex, SIGKILL", "runtime, SIGKILL", "both, SIGKILL", "runtime while it starts, SIGKILL", "runtime, SIGTERM", "disk filled",
		"connections to the model, FIN", "connections to the model, RST", "model out of reach", "model without WebSockets", "none, a lull",
		"machine, SIGKILL", "exec-server of a machine, SIGKILL", "machine, SIGSTOP for a while", "machine, SIGTERM"}[s]
}

// kills is how many processes a strike kills with SIGKILL.
func (s strike) kills() int {
	switch s {
	case killChild, killUs, killMachine, killExec:
		return 1
	case killBoth, killInStart:
		return 2
	}
	return 0
}

// A moment is what a strike waits for before its delay begins.
type moment int

// The moments.
const (
	anytime   moment = iota
	atModel          // the model is asked something
	atCommand        // a command has done its work
	atAccept         // a message is about to be sent
	moments
)

// A Blow is one strike of the plan.
type Blow struct {
	Strike strike
	When   moment
	After  time.Duration
	Hold   time.Duration // of what lasts
	Which  int           // of the machines
	Hasty  bool          // the next blow does not wait for the recovery from this one
}

// A Plan makes messages and blows of a seed.
type Plan struct {
	seed     uint64
	contexts int
	calm     bool // kills of codex only
	cuts     bool // strikes at the model only, which has WebSockets throughout or never
	deaf     bool // it has none
	machines int  // that commands run on; 0 is here
}

func (p Plan) source(n uint64) *rand.Rand { return rand.New(rand.NewPCG(p.seed, n)) }

// Messages returns the endless messages of a conversation.
func (p Plan) Messages(conversation int) func() *Message {
	r, n := p.source(uint64(conversation)), 0
	return func() *Message {
		n++
		return p.message(r, conversation, n)
	}
}

func (p Plan) message(r *rand.Rand, conversation, n int) *Message {
	m := &Message{
		ID: fmt.Sprintf("m%d-%d-%06x", conversation, n, r.IntN(1<<24)), Context: fmt.Sprintf("context-%d", conversation), N: n,
		Pieces: 1 + r.IntN(12), Every: ms(r, 0, 25), Long: ms(r, 0, 200), Door: door(r.IntN(int(doors))),
		Command: one(r, 3), Twin: one(r, 6), Retry: one(r, 2), Follow: one(r, 8),
	}
	leave, stall, cancel := ms(r, 1, 300), ms(r, 50, 400), ms(r, 1, 300)
	if one(r, 5) {
		m.Leave = leave
	}
	if m.Door.stream() && one(r, 5) {
		m.Stall = stall
	}
	if p.machines > 0 {
		m.Leaves = one(r, 3)
		if long := ms(r, 0, 3000); one(r, 4) {
			m.Long = long
		}
	}
	if one(r, 12) {
		m.Cancel = cancel
	}
	if think := ms(r, 0, 300); one(r, 3) {
		m.Think = think
	}
	if one(r, 8) {
		m.Fault = fault(1 + r.IntN(int(hangs)))
	}
	return m
}

// Blows returns the endless strikes. Those at the model come beside the others, of which there
// are as many as the kills need. Half of all are at machines, where there are any.
func (p Plan) Blows() func() Blow {
	r := p.source(1 << 32)
	here := p.here(r)
	return func() Blow {
		b := here()
		if p.machines > 0 && one(r, 2) {
			p.there(r, &b)
		}
		return b
	}
}

// there makes a strike one at a machine. What lasts may last for longer than the runtime waits.
func (p Plan) there(r *rand.Rand, b *Blow) {
	b.Which = r.IntN(p.machines)
	switch kind, long := r.IntN(100), ms(r, 500, 8000); {
	case kind < 35:
		b.Strike = killMachine
	case kind < 60:
		b.Strike = killExec
	case kind < 85:
		b.Strike, b.Hold = freezeMachine, long
	default:
		b.Strike = drainMachine
	}
}

// here are the strikes at this machine.
func (p Plan) here(r *rand.Rand) func() Blow {
	return func() Blow {
		b := Blow{When: moment(r.IntN(int(moments))), After: ms(r, 0, 60), Hold: ms(r, 50, 500), Hasty: one(r, 3)}
		far, kind := ms(r, 0, 300), r.IntN(128)
		if p.cuts {
			kind = 100 + kind%26
		}
		if b.When == anytime {
			b.After = far
		}
		switch {
		case p.calm || kind < 55:
			b.Strike = killChild
		case kind < 77:
			b.Strike = killUs
		case kind < 83:
			b.Strike = killBoth
		case kind < 88:
			b.Strike = killInStart
		case kind < 95:
			b.Strike = stopUs
		case kind < 99:
			b.Strike = fillDisk
		case kind < 100:
			b.Strike = lull
		case kind < 109:
			b.Strike = finModel
		case kind < 118:
			b.Strike = rstModel
		case kind < 126:
			b.Strike = modelAway
		default:
			b.Strike = modelDeaf
		}
		return b
	}
}

func one(r *rand.Rand, in int) bool { return r.IntN(in) == 0 }

func ms(r *rand.Rand, from, to int) time.Duration {
	return time.Duration(from*1000+r.IntN((to-from)*1000)) * time.Microsecond
}

// TestSeed makes the same plan of the same seed, and another of another.
func TestSeed(t *testing.T) {
	text := func(seed uint64) string {
		p := Plan{seed: seed}
		blow, all := p.Blows(), ""
		for n := range 3 {
			next := p.Messages(n)
			for range 50 {
				all += fmt.Sprintf("%+v %+v\n", *next(), blow())
			}
		}
		return all
	}
	first := text(7)
	if first != text(7) {
		t.Error("one seed has made two plans")
	}
	if first == text(8) {
		t.Error("two seeds have made one plan")
	}
}
