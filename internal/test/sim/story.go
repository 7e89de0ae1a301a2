package sim

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// A story is what has happened, to be told of the messages with which something is wrong.
type story struct {
	mu    sync.Mutex
	began time.Time
	lines []line
}

type line struct {
	after time.Duration
	who   string // a message or an attempt at it; empty for what concerns all
	what  string
}

func newStory() *story { return &story{began: time.Now()} }

// tell notes what has happened to a message; who is its id or that of an attempt.
func (s *story) tell(who, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line{time.Since(s.began), who, fmt.Sprintf(format, args...)})
}

// of is what has happened to a message, and to all; jobs are the names that it was known by.
func (s *story) of(names ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.lines {
		concerns := l.who == "" || len(names) == 0
		for _, name := range names {
			concerns = concerns || l.who == name || strings.HasPrefix(l.who, name+".")
		}
		if concerns {
			fmt.Fprintf(&b, "%14s  %-44s %s\n", l.after, l.who, l.what)
		}
	}
	return b.String()
}
