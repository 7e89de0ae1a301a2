package child

import (
	"sync"
	"time"
)

// codex keeps a thread loaded for a minute after it is no longer followed (seen on 0.169.0), with
// two open files and some MiB. So many conversations one after the other would be as many threads
// that are loaded; beyond a number they are unloaded at once, which writes to the disk.
const lingersFor = 70 * time.Second

// Sides are the threads that linger: conversations of other agents are counted apart, so that many of
// them unload none of the user's, with what its subagents have left running.
type Sides struct{ peers, others Lately }

// Of are the threads of other agents, or those of the user.
func (s *Sides) Of(peer bool) *Lately {
	if peer {
		return &s.peers
	}
	return &s.others
}

// Lately knows until when threads may linger. One that is loaded again meanwhile counts on.
type Lately struct {
	mu    sync.Mutex
	until []time.Time // the oldest first
}

// Crowded reports whether no more threads may linger.
func (l *Lately) Crowded(now time.Time, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.until) > 0 && !l.until[0].After(now) {
		l.until = l.until[1:]
	}
	return len(l.until) >= most
}

// Add notes one more.
func (l *Lately) Add(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = append(l.until, now.Add(lingersFor))
}
