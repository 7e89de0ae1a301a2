package tasks

import (
	"context"
	"strings"
	"time"
)

// SaidToUser tells that the user of the workspace is told something, or was just now, that is no
// reply to what they have sent.
func (e *Engine) SaidToUser() { e.Telling("", "", Sends) }

// A Delivery is how far a reply has come that others bring to the user.
type Delivery int

// What is said of one.
const (
	Sends   Delivery = iota // it is about to be sent, and nobody has been shown it
	Failed                  // that has failed, or it is not known whether it has arrived
	Arrived                 // the platform has it
)

// Telling says of a reply to the user that is not the answer to a call, by the id of its message, how far
// it has come, before each try and after it. To what other tasks of its conversation ask it is something
// beside; without the name of one, to those of all.
func (e *Engine) Telling(conversation, reply string, how Delivery) {
	for _, t := range e.live.all() {
		if conversation == "" || conversation == t.about() {
			t.beside(reply, how)
		}
	}
}

func (t *task) beside(reply string, how Delivery) {
	t.lock()
	defer t.unlock()
	switch {
	case t.status.State.Terminal():
	case !t.poses(reply):
		if !strings.HasPrefix(reply, string(t.id)) { // else it has posed what is asked, and has been posed again since
			t.saidBeside()
		}
	case how == Sends:
		t.words.sending, t.words.sent = reply, time.Now()
	case how == Arrived && t.words.sending == reply: // and nothing was told since it was sent
		t.read()
	}
}

type writtenKey struct{}

// WithWritten returns the context of a message that was written before it comes here; the zero time is
// not known.
func WithWritten(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, writtenKey{}, at)
}

func writtenAt(ctx context.Context) time.Time {
	if at, _ := ctx.Value(writtenKey{}).(time.Time); !at.IsZero() {
		return at
	}
	return time.Now()
}
