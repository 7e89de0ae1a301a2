package platform

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"
)

// A Speaker says things to the user of a workspace that are tried until they arrive. What may have
// arrived already is looked for in the platform's log before it is said again; what was tried before
// this process is not known. Create it with [NewSpeaker]; its methods may be called from anywhere.
type Speaker struct {
	canvas Canvas
	now    func() time.Time

	mu     sync.Mutex
	unsure []note // of which it is not known whether they have arrived
	said   []note // that have
}

// A Canvas is where the user reads, and its log. A [Client] has that of its workspace.
type Canvas interface {
	Log
	Notify(ctx context.Context, message string, attachments ...Attachment) error
}

// A note is something that was said, by what it is called: when that was tried, or had arrived.
type note struct {
	id    string
	text  [sha256.Size]byte
	at    time.Time
	looks int // for it that have failed
}

const (
	glance    = 15 * time.Second // that the log has to tell before something is said again
	fewLooks  = 3                // that fail before it is said again: twice is better than never
	mostNotes = 1000             // of either kind, for a day
)

// NewSpeaker returns a speaker that has said nothing yet.
func NewSpeaker(canvas Canvas) *Speaker { return &Speaker{canvas: canvas, now: time.Now} }

// Arrived reports whether what has this name is there since a try of which it was not known. Where the
// log cannot tell, or cannot be read some times, it is not. With an error it is to be asked again.
func (s *Speaker) Arrived(ctx context.Context, id, text string) (bool, error) {
	n, ok := s.tried(id, text)
	if !ok {
		return false, nil
	}
	looking, cancel := context.WithTimeout(ctx, glanceIn(ctx))
	defer cancel()
	there, err := Told(looking, s.canvas, text, n.at, func(since time.Time) (int, error) { return s.count(n.text, since), nil })
	switch {
	case there:
		s.arrived(n)
	case errors.Is(err, ErrCannotTell), err != nil && looking.Err() != nil && ctx.Err() == nil:
		return false, nil
	case err != nil && s.failed(n) >= fewLooks:
		return false, nil
	}
	return there, err
}

// glanceIn is what of the time of a try is for the look: what is left of it is for saying.
func glanceIn(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(glance, time.Until(deadline)/2)
	}
	return glance
}

// failed counts a look for a note.
func (s *Speaker) failed(n note) (looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.unsure {
		if s.unsure[i] == n {
			s.unsure[i].looks++
			return s.unsure[i].looks
		}
	}
	return fewLooks
}

// Say says something, by a name that it has each time it is tried.
func (s *Speaker) Say(ctx context.Context, id, text string, attachments ...Attachment) error {
	n := note{id: id, text: sha256.Sum256([]byte(text)), at: s.now()}
	err := s.canvas.Notify(ctx, text, attachments...)
	switch {
	case err == nil:
		s.arrived(n)
	case !Undone(err):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forgetLocked(id)
		s.unsure = s.keepLocked(s.unsure, n)
	}
	return err
}

// Notify says something that is not tried again. What it has said is not taken for something else of
// the same text.
func (s *Speaker) Notify(ctx context.Context, message string, attachments ...Attachment) error {
	err := s.canvas.Notify(ctx, message, attachments...)
	if err == nil {
		s.arrived(note{text: sha256.Sum256([]byte(message))})
	}
	return err
}

// tried is what may have arrived.
func (s *Speaker) tried(id, text string) (n note, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.unsure, func(n note) bool { return n.id == id && n.text == sha256.Sum256([]byte(text)) })
	if i < 0 {
		return note{}, false
	}
	return s.unsure[i], true
}

// count is how many of a text have arrived since a time.
func (s *Speaker) count(text [sha256.Size]byte, since time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, said := range s.said {
		if said.text == text && !said.at.Before(since) {
			n++
		}
	}
	return n
}

func (s *Speaker) arrived(n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(n.id)
	n.at = s.now()
	s.said = s.keepLocked(s.said, n)
}

// forgetLocked lets go of what may have arrived.
func (s *Speaker) forgetLocked(id string) {
	s.unsure = slices.DeleteFunc(s.unsure, func(n note) bool { return n.id == id })
}

// keepLocked adds a note to others, of which those that are too old, or too many, are let go.
func (s *Speaker) keepLocked(all []note, n note) []note {
	all = slices.DeleteFunc(all, func(other note) bool { return s.now().Sub(other.at) > 24*time.Hour })
	if len(all) == mostNotes {
		all = slices.Delete(all, 0, 1)
	}
	return append(all, n)
}
