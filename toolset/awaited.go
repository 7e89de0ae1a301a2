package toolset

import (
	"slices"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// mostTold bounds what is remembered of results that calls have returned. Whoever asks
// does so each half minute.
const mostTold = 256

// awaited are the delegations whose results a call of delegate_task waits for, and those
// whose results it has returned: nobody else need tell the model of them.
type awaited struct {
	mu    sync.Mutex // guards the fields below
	calls map[string]int
	told  []string // oldest first
}

// wait notes that a call waits for the result of a delegation, until done is called.
func (a *awaited) wait(id string) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[string]int{}
	}
	a.calls[id]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.calls[id]--; a.calls[id] == 0 {
			delete(a.calls, id)
		}
	}
}

// tell notes that a call returns a result, by the ids that the platform has for it.
func (a *awaited) tell(ids ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, slices.DeleteFunc(ids, func(id string) bool { return len(id) > platform.MaxID })...)
	a.told = slices.Clone(a.told[max(0, len(a.told)-mostTold):])
}

// Awaited says of a delegation whether a call waits for its result now, and whether one
// has returned it. A failure that names no delegation goes by the id of its row.
func (s *Set) Awaited(id string) (waits, told bool) {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	return s.awaited.calls[id] > 0, slices.Contains(s.awaited.told, id)
}
