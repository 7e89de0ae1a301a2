package fakemodel

import (
	"encoding/json"
	"net/http"
)

// A sink is where the answer to one request goes.
type sink interface {
	// send writes one event. kind must stand in data as its type, too.
	send(kind string, data []byte)
	// flush sends what waits.
	flush()
	// end sends what waits and makes every later send a no-op.
	end()
	// fail answers with an HTTP error, or what stands for one, if nothing was sent yet. It
	// reports whether it did.
	fail(status int, body []byte, header http.Header) bool
	// isOpen reports whether anything was sent.
	isOpen() bool
}

// event sends v, which must marshal, as an event of the given kind.
func (t *Turn) event(kind string, v map[string]any) {
	v["type"] = kind
	data, err := json.Marshal(v)
	if err != nil {
		panic("fakemodel: " + err.Error()) // only values of our own come here
	}
	t.sink.send(kind, data)
}
