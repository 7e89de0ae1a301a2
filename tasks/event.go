package tasks

import (
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// An Event is an event of a stream with its place in it.
type Event struct {
	a2a.Event
	// ID names the place, for Last-Event-ID: "<epoch>.<number>". It is unique in
	// the task.
	ID string

	mu      sync.Mutex // guards the field below
	encoded []encoding // a few
}

type encoding struct {
	name  string
	bytes []byte
	err   error
}

// Encoded returns the event as encode renders it, which is asked only once for
// each name: many readers share one event.
func (e *Event) Encoded(name string, encode func(a2a.Event) ([]byte, error)) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, made := range e.encoded {
		if made.name == name {
			return made.bytes, made.err
		}
	}
	bytes, err := encode(e.Event)
	e.encoded = append(e.encoded, encoding{name, bytes, err})
	return bytes, err
}
