package fakecodex

import (
	"fmt"
)

// threadCallLocked carries out a call about a thread.
func (s *server) threadCallLocked(method string, p params) (any, error) {
	t := s.threads[p.ThreadID]
	switch method {
	case "thread/start":
		t = &thread{ID: s.newIDLocked("thread"), Subscribed: true}
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
		return object{"terminated": t.terminateLocked(p.ProcessID)}, nil
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

// terminateLocked ends a background terminal.
func (t *thread) terminateLocked(processID string) bool {
	for i, terminal := range t.Terminals {
		if terminal["processId"] == processID {
			t.Terminals = append(t.Terminals[:i:i], t.Terminals[i+1:]...)
			return true
		}
	}
	return false
}
