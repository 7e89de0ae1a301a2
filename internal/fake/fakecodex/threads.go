package fakecodex

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// newID returns an id that no other run makes. The caller holds s.mu.
func (s *server) newID(kind string) string {
	s.lastID++
	return fmt.Sprintf("%s-%d-%d-%d", kind, os.Getpid(), time.Now().UnixNano(), s.lastID)
}

// threadCall carries out a call about a thread. The caller holds s.mu.
func (s *server) threadCall(method string, p params) (any, error) {
	t := s.threads[p.ThreadID]
	switch method {
	case "thread/start":
		t = &thread{ID: s.newID("thread"), Subscribed: true}
		s.threads[t.ID] = t
		return s.session(t), nil
	case "thread/archive":
		if s.load(p.ThreadID) == nil || s.archived[p.ThreadID] {
			return nil, fmt.Errorf("no rollout found for thread id %s", p.ThreadID)
		}
		delete(s.threads, p.ThreadID)
		s.archived[p.ThreadID] = true
		return object{}, nil
	case "thread/unarchive":
		if !s.archived[p.ThreadID] {
			return nil, fmt.Errorf("no archived rollout found for thread id %s", p.ThreadID)
		}
		delete(s.archived, p.ThreadID)
		return object{}, nil
	case "thread/resume":
		if s.archived[p.ThreadID] {
			return nil, fmt.Errorf("session %s is archived. Run `codex unarchive %[1]s` to unarchive it first.", p.ThreadID) //nolint:staticcheck // codex's own words
		}
		if t = s.load(p.ThreadID); t == nil {
			return nil, fmt.Errorf("no rollout found for thread id %s", p.ThreadID)
		}
		t.Subscribed = true
		return s.session(t), nil
	}
	if method == "thread/queue/list" {
		return object{"data": []object{}}, nil
	}
	if method == "thread/unsubscribe" {
		if t == nil {
			return object{"status": "notLoaded"}, nil
		}
		t.Subscribed = false
		return object{"status": "unsubscribed"}, nil
	}
	if t == nil {
		return nil, fmt.Errorf("thread not found: %s", p.ThreadID)
	}
	switch method {
	case "thread/turns/list":
		return s.turnsList(t, p)
	case "thread/backgroundTerminals/list":
		return object{"data": append([]object{}, t.Terminals...), "nextCursor": nil}, nil
	default:
		return object{"terminated": t.terminate(p.ProcessID)}, nil
	}
}

func (s *server) session(t *thread) object {
	return object{
		"thread": object{"id": t.ID, "path": s.rollout(t), "status": object{"type": "idle"}, "turns": []any{}},
		"model":  "fake-model", "modelProvider": "fake", "cwd": "/",
	}
}

func (s *server) turnsList(t *thread, p params) (any, error) {
	if len(t.Turns) == 0 {
		return nil, fmt.Errorf("thread %s is not materialized yet; thread/turns/list is unavailable before first user message", t.ID)
	}
	if p.ItemsView == "" {
		p.ItemsView = "summary"
	}
	return object{"data": t.list(p.Limit, p.ItemsView), "nextCursor": nil}, nil
}

// terminate ends a background terminal. The caller holds server.mu.
func (t *thread) terminate(processID string) bool {
	for i, terminal := range t.Terminals {
		if terminal["processId"] == processID {
			t.Terminals = append(t.Terminals[:i:i], t.Terminals[i+1:]...)
			return true
		}
	}
	return false
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
