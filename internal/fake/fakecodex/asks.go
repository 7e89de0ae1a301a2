package fakecodex

import (
	"encoding/json"
	"fmt"
	"os"
)

// ask sends a request to the client; the answer comes on the channel.
func (s *server) ask(method string, params object) <-chan message {
	s.mu.Lock()
	s.lastAsk++
	id := json.RawMessage(fmt.Sprint(s.lastAsk - 1)) // codex begins at 0
	if ids, ok := s.step("ids"); ok {
		switch ids.arg(0) {
		case "string":
			id = json.RawMessage(fmt.Sprintf(`"ask-%d"`, s.lastAsk))
		case "negative":
			id = json.RawMessage(fmt.Sprint(-s.lastAsk))
		}
	}
	waiting := make(chan message, 1) // answered does not wait
	s.asked[string(id)] = waiting
	s.mu.Unlock()
	s.write(encode(request{method, id, params}))
	return waiting
}

// answered hands an answer of the client to whoever asked.
func (s *server) answered(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.asked[string(m.ID)]; waiting != nil {
		delete(s.asked, string(m.ID))
		waiting <- m
		return
	}
	fmt.Fprintf(os.Stderr, "fakecodex: an answer to nothing: %s\n", m.ID)
}
