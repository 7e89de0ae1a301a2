package fleet

import (
	"fmt"
	"strings"
	"time"
)

// A Standing is whether turns find a machine.
type Standing struct {
	Machines int       // in the list
	Taking   int       // of them take turns
	Waiting  int       // turns that wait for a machine
	None     time.Time // since when no machine takes turns; zero while one does
	Ever     bool      // a machine has taken turns since the start
	Why      string    // those that take none, with the reasons
	Trouble  error     // of the list
}

// mostWhy is how many machines are named in one sentence.
const mostWhy = 5

// Standing says whether turns find a machine. It waits for none.
func (f *Fleet) Standing() Standing {
	f.mu.Lock()
	s := Standing{Machines: len(f.members), Waiting: len(f.waiting), None: f.none, Ever: f.ever, Trouble: f.trouble}
	f.mu.Unlock()
	all, _ := f.Overview()
	var why []string
	for _, m := range all {
		switch {
		case m.Takes:
			s.Taking++
		case m.Address != "":
			why = append(why, m.Name+" "+m.Words())
		}
	}
	if more := len(why) - mostWhy; more > 0 {
		why = append(why[:mostWhy], fmt.Sprintf("and %d more", more))
	}
	s.Why = strings.Join(why, "; ")
	return s
}

// standLocked notes whether a machine takes turns.
func (f *Fleet) standLocked() {
	for _, m := range f.members {
		if m.takes() {
			f.none, f.ever = time.Time{}, true
			return
		}
	}
	if f.none.IsZero() {
		f.none = time.Now()
	}
}

// takes reports whether the machine takes turns, with room or without.
func (m *member) takes() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state == Up && !m.leaves && !m.status.Draining && m.f.unusable(m.status) == ""
}

// Words say how a machine stands, for people, after its name.
func (s Shown) Words() string {
	words := map[State]string{
		Unknown: "has not been heard yet", Up: "takes turns", Doubted: "has not been heard for a moment", Lost: "is lost", Refused: "does not let this runtime in",
	}[s.State]
	if s.State == Up && s.Draining {
		words = "drains"
	} else if s.State == Up && !s.Takes {
		words = "takes no turns"
	}
	if s.Why != "" {
		words += ": " + s.Why
	}
	return words
}
