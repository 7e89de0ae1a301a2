package fakeplatform

import "sync"

// A world is what the platform knows of workspaces, and the record of what it was asked
// and has handed on.
type world struct {
	era Era
	record

	mu         sync.Mutex // guards the fields below, and all workspaces; the record has a lock of its own
	workspaces map[string]*workspace
	order      []string // their ids, oldest first
	seq        int64    // of the last row
}

func newWorld(era Era) world {
	return world{era: era, record: record{changed: make(chan struct{})}, workspaces: map[string]*workspace{}}
}

// locked runs change under the lock.
func (k *world) locked(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

// keepLocked has the platform know the workspace.
func (k *world) keepLocked(ws *workspace) {
	if k.workspaces[ws.ID] == nil {
		k.workspaces[ws.ID] = ws
		k.order = append(k.order, ws.ID)
	}
}

// findLocked returns a workspace that is not removed, or nil.
func (k *world) findLocked(id string) *workspace {
	if ws := k.workspaces[id]; ws != nil && !ws.deleted {
		return ws
	}
	return nil
}

// mayTalkLocked is the platform's rule: siblings, parents and children, and, in the older
// one, all that stand above and below.
func (k *world) mayTalkLocked(a, b *workspace) bool {
	switch {
	case a == b, a.Parent == b.Parent, a.Parent == b.ID, b.Parent == a.ID:
		return true
	}
	return k.era == APR && (k.aboveLocked(a, b) || k.aboveLocked(b, a))
}

func (k *world) aboveLocked(a, b *workspace) bool {
	for range len(k.workspaces) {
		if b = k.workspaces[b.Parent]; b == nil {
			return false
		}
		if b == a {
			return true
		}
	}
	return false
}
