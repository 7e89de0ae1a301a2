package feed

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
	// Shared says that all readers of the task have this very event. Any other is made for
	// one reader alone.
	Shared bool
	// Holds is what the stream has in memory beside the event, for its reader alone, until
	// the next one is asked for: about so many bytes.
	Holds int

	mu      sync.Mutex // guards the field below
	encoded []encoding // a few
}

type encoding struct {
	name  string
	bytes []byte
	err   error
}

// With is an event in the place of e, made for one reader.
func (e *Event) With(event a2a.Event) *Event {
	return &Event{Event: event, ID: e.ID, Holds: e.Holds}
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
