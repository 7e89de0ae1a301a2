package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Ending is how a client saw a task end.
type Ending struct {
	State       string // completed, failed, canceled, rejected
	Text        string // of the reply
	Kind        string // of the failure
	Why         string // it failed, in words
	Interrupted bool
	Attempt     int
	RetryOf     string
}

// An Entry is what is known of one message.
type Entry struct {
	*Message
	Tasks   []string // that it was said to be, in the order of hearing it
	Refused bool     // it named a task that had ended

	given   bool      // the model was given it, as the newest message or one before that
	asked   int       // how often the model was given it as the newest message
	faulted int       // how often of these the plan made the model fail
	recut   int       // how often of these a cut of the connections was why
	last    time.Time // when the last of these was
	broken  int       // how many answers to it in a row the model could not finish
	broke   time.Time // when it last could not
	said    int       // how often the model answered it in full
}

// A Ledger is what the clients and the model have seen. Its methods may be
// called concurrently.
type Ledger struct {
	asked   *signal // the model was asked
	said    *signal // the model has answered
	sending *signal // a message is about to be sent

	mu      sync.Mutex // guards the fields below
	entries map[string]*Entry
	order   []*Entry            // in the order of their making
	heard   map[string][]*Entry // what the model was given as the newest message, by conversation
	ends    map[string]Ending   // by task
	answers int                 // terminal states that clients were told
	resumed int                 // streams that went on behind an event id
	putOff  map[string]int      // how often clients were told to come again, by the words
	cut     time.Time           // when the connections to the model were last cut
	sockets int                 // how often the model was asked by a WebSocket
	posts   int                 // and by HTTP
	faults  []string
}

func newLedger() *Ledger {
	return &Ledger{
		asked: newSignal(), said: newSignal(), sending: newSignal(),
		entries: map[string]*Entry{}, heard: map[string][]*Entry{}, ends: map[string]Ending{}, putOff: map[string]int{},
	}
}

func (l *Ledger) open(m *Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &Entry{Message: m}
	l.entries[m.ID], l.order = e, append(l.order, e)
}

// fault notes that something is wrong. The run goes on.
func (l *Ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// isTask notes the task that a message was said to be.
func (l *Ledger) isTask(m *Message, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[m.ID]; !slices.Contains(e.Tasks, id) {
		e.Tasks = append(e.Tasks, id)
	}
}

// later notes that a client was told to come again.
func (l *Ledger) later(words string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case strings.Contains(words, "disk"):
		words = "the disk is full"
	case strings.Contains(words, "stopping"), strings.Contains(words, "shutting down"):
		words = "the runtime is stopping"
	}
	l.putOff[words]++
}

func (l *Ledger) wentOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resumed++
}

func (l *Ledger) refused(m *Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[m.ID].Refused = true
}

// ended notes how a client was told that a task ended: whatever was told first
// must be told ever after.
func (l *Ledger) ended(where, task string, end Ending) {
	l.mu.Lock()
	before, known := l.ends[task]
	if !known {
		l.ends[task] = end
	}
	l.answers++
	l.mu.Unlock()
	if known && before != end {
		l.fault("task %s ended as %+v, and later, by %s, as %+v", task, before, where, end)
	}
}

// give notes what the model was given besides the newest message.
func (l *Ledger) give(texts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range texts {
		if e := l.entries[messageID.FindString(text)]; e != nil {
			e.given = true
		}
	}
}

const (
	// mostBroken answers to a message are cut off in a row: codex asks six times.
	mostBroken = 3
	// codexWaits is longer than codex waits after so many.
	codexWaits = 2 * time.Second
)

// inTheWay is how long the model may take to read what was sent before a cut.
const inTheWay = 500 * time.Millisecond

// ask notes that the model was given a message. It reports the fault with which
// it is to answer.
func (l *Ledger) ask(id string) (*Message, fault) {
	l.mu.Lock()
	e := l.entries[id]
	if e == nil {
		l.mu.Unlock()
		return nil, sound
	}
	if e.asked > 0 && l.cut.After(e.last.Add(-inTheWay)) {
		e.recut++
	}
	e.asked, e.last = e.asked+1, time.Now()
	l.heard[e.Context] = append(l.heard[e.Context], e)
	what := sound
	if e.Fault != sound && e.asked == 1 {
		what = e.Fault
		e.faulted++
	}
	l.mu.Unlock()
	l.asked.send()
	return e.Message, what
}

// cuts notes that the connections to the model are about to be cut.
func (l *Ledger) cuts() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = time.Now()
}

// tried notes whether an answer to a message was broken off.
func (l *Ledger) tried(id string, broken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := l.entries[id]; {
	case e == nil:
	case broken:
		e.broken, e.broke = e.broken+1, time.Now()
	default:
		e.broken = 0
	}
}

// worn reports whether a message has had as many tries that failed as it may, and will have another.
func (l *Ledger) worn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.order, func(e *Entry) bool { return e.broken >= mostBroken && time.Since(e.broke) < codexWaits })
}

// askedBy notes the way by which the model was asked.
func (l *Ledger) askedBy(socket bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if socket {
		l.sockets++
	} else {
		l.posts++
	}
}

func (l *Ledger) answered(id string) {
	l.mu.Lock()
	if e := l.entries[id]; e != nil {
		e.said++
	}
	l.mu.Unlock()
	l.said.send()
}

// A signal tells whoever waits that something happened.
type signal struct {
	mu sync.Mutex
	ch chan struct{} // closed and replaced when it happens
}

func newSignal() *signal { return &signal{ch: make(chan struct{})} }

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// next is closed when it happens the next time.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}
