package presence

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

const (
	mostTask   = 60  // characters of what runs
	mostSample = 500 // and of an error
	mostHead   = 4 << 10

	// The error rate is that of the turns that have ended lately. After a quiet while
	// nothing is known to be wrong any more.
	lately    = 5 * time.Minute
	mostTurns = 100
)

// A work is what the runtime does, as it is told. Its methods only take a lock.
type work struct {
	changed chan struct{} // says that there is something to tell; holds one

	mu      sync.Mutex // guards the fields below
	jobs    map[string]*job
	seq     int
	outcome []outcome // of turns, oldest first
}

type job struct {
	seq   int
	label string
	rests bool
}

type outcome struct {
	at      time.Time
	failure string // "" if the turn did not fail
}

// doing is what the platform is told at once.
type doing struct {
	active  int
	current string
	wedged  string // why no turn can be started
}

type snapshot struct {
	doing
	rate   float64
	sample string
}

func newWork() work {
	return work{changed: make(chan struct{}, 1), jobs: map[string]*job{}}
}

// Began says that a message is on its way to a turn, or in one. The label says what
// it is about.
func (p *Presence) Began(id, label string) {
	w := &p.work
	w.mu.Lock()
	w.seq++
	w.jobs[id] = &job{seq: w.seq, label: head(label)}
	w.mu.Unlock()
	poke(w.changed)
}

// Rests says that a message waits for something that is not of our making, or is part
// of the turn of another: it keeps the platform from nothing.
func (p *Presence) Rests(id string) { p.work.rest(id, true) }

// Resumes takes [Presence.Rests] back.
func (p *Presence) Resumes(id string) { p.work.rest(id, false) }

func (w *work) rest(id string, rests bool) {
	w.mu.Lock()
	j := w.jobs[id]
	if j != nil {
		j.rests = rests
	}
	w.mu.Unlock()
	if j != nil {
		poke(w.changed)
	}
}

// Ended says that what [Presence.Began] spoke of is over.
func (p *Presence) Ended(id string) {
	w := &p.work
	w.mu.Lock()
	_, known := w.jobs[id]
	delete(w.jobs, id)
	w.mu.Unlock()
	if known {
		poke(w.changed)
	}
}

// Turn notes that a turn has ended, and why it failed, "" if it did not.
func (p *Presence) Turn(failure string) {
	w := &p.work
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcome = append(w.outcome, outcome{time.Now(), head(failure)})
	if len(w.outcome) > mostTurns {
		w.outcome = append(w.outcome[:0], w.outcome[len(w.outcome)-mostTurns:]...)
	}
}

// Changed says that something of the configuration's functions may have changed, such
// as whether turns can be started.
func (p *Presence) Changed() { poke(p.work.changed) }

// Active returns how many messages are on their way to a turn, or in one.
func (p *Presence) Active() int { return p.work.snapshot(time.Now()).active }

// snapshot is what is to be told now. The task that is named is the oldest.
func (w *work) snapshot(now time.Time) (s snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := 0
	for _, j := range w.jobs {
		if j.rests {
			continue
		}
		s.active++
		if oldest == 0 || j.seq < oldest {
			oldest, s.current = j.seq, j.label
		}
	}
	for len(w.outcome) > 0 && now.Sub(w.outcome[0].at) > lately {
		w.outcome = w.outcome[1:]
	}
	failed := 0
	for _, o := range w.outcome {
		if o.failure != "" {
			failed++
			s.sample = o.failure
		}
	}
	if failed > 0 {
		s.rate = float64(failed) / float64(len(w.outcome))
	}
	return s
}

// head is the beginning of a text: what is looked through for secrets when it is told, and a
// character more where it goes on.
func head(text string) string { return brief.Head(text, mostHead+utf8.UTFMax) }
