package fakecodex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// A thread is what a run knows of a conversation. Guarded by server.mu.
type thread struct {
	ID         string     `json:"id"`
	Turns      []*turn    `json:"turns"` // oldest first
	Terminals  []object   `json:"-"`
	Subscribed bool       `json:"-"`
	active     *turn      // nil when idle
	running    *execution // of active
}

// A turn as the history shows it: a tool that was cut off is not in it.
type turn struct {
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Error  object   `json:"error"`
	Items  []object `json:"items"`
}

// view is the turn as codex lists it.
func (t *turn) view(itemsView string) object {
	items := []object{}
	for _, item := range t.Items {
		kind := item["type"]
		if itemsView == "full" || kind == "agentMessage" || kind == "userMessage" {
			items = append(items, item)
		}
	}
	return object{"id": t.ID, "status": t.Status, "error": t.Error, "items": items, "itemsView": itemsView}
}

// list is the answer of thread/turns/list, the newest first.
func (t *thread) list(limit int, itemsView string) []object {
	turns := []object{}
	for _, turn := range slices.Backward(t.Turns) {
		if limit > 0 && len(turns) == limit {
			break
		}
		turns = append(turns, turn.view(itemsView))
	}
	return turns
}

// save keeps a thread for the next run. A thread without turns is not on disk.
func (s *server) save(t *thread) {
	if s.dir == "" || len(t.Turns) == 0 {
		return
	}
	path := filepath.Join(s.dir, t.ID+".json")
	if err := os.WriteFile(path+".new", encode(t), 0o600); err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		fatal(70, "fakecodex: %v", err)
	}
}

// load returns a thread of this run or an earlier one, or nil.
func (s *server) load(id string) *thread {
	if t := s.threads[id]; t != nil && (s.dir == "" || len(t.Turns) > 0) {
		return t
	}
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(id)+".json"))
	if err != nil {
		return nil
	}
	t := &thread{}
	if err := json.Unmarshal(text, t); err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	for _, turn := range t.Turns {
		if turn.Status == "inProgress" {
			turn.Status = "interrupted"
		}
	}
	s.threads[id] = t
	return t
}
