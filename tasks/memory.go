package tasks

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Retention says how long ended tasks are kept; whichever bound is reached
// first drops the one that ended first. Tasks that have not ended are always kept.
type Retention struct {
	Tasks int           // 0 means 10,000
	Age   time.Duration // 0 means 30 days
	Bytes int           // of all texts and files together, roughly; 0 means 256 MiB
}

// Memory is a [Journal] that is lost with the process.
type Memory struct {
	bounds Retention

	mu      sync.Mutex // guards the fields below
	tasks   map[a2a.TaskID]*kept
	entries map[Key]Entry
	ended   []*kept // in the order of their end
	bytes   int     // of ended
}

type kept struct {
	task  *a2a.Task
	keys  []Key
	size  int
	ended time.Time // zero while the task has not ended
}

var _ Journal = (*Memory)(nil)

// NewMemory returns an empty journal.
func NewMemory(bounds Retention) *Memory {
	bounds.Tasks = cmp.Or(bounds.Tasks, 10_000)
	bounds.Age = cmp.Or(bounds.Age, 30*24*time.Hour)
	bounds.Bytes = cmp.Or(bounds.Bytes, 256<<20)
	return &Memory{bounds: bounds, tasks: map[a2a.TaskID]*kept{}, entries: map[Key]Entry{}}
}

// Find implements [Journal].
func (m *Memory) Find(_ context.Context, key Key) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prune()
	entry, ok := m.entries[key]
	if !ok {
		return Entry{}, ErrUnknown
	}
	return entry, nil
}

// Accept implements [Journal].
func (m *Memory) Accept(_ context.Context, entry Entry, task *a2a.Task) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.put(task)
	k.keys = append(k.keys, entry.Key)
	m.entries[entry.Key] = entry
	return nil
}

// Withdraw implements [Journal].
func (m *Memory) Withdraw(_ context.Context, entry Entry, task *a2a.Task) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, entry.Key)
	if task == nil {
		delete(m.tasks, entry.TaskID)
		return nil
	}
	k := m.put(task)
	k.keys = slices.DeleteFunc(k.keys, func(key Key) bool { return key == entry.Key })
	return nil
}

// Save implements [Journal].
func (m *Memory) Save(_ context.Context, task *a2a.Task) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(task)
	m.prune()
	return nil
}

// put stores a task. The caller holds m.mu.
func (m *Memory) put(task *a2a.Task) *kept {
	k := m.tasks[task.ID]
	if k == nil {
		k = &kept{}
		m.tasks[task.ID] = k
	}
	k.task = task
	if task.Status.State.Terminal() && k.ended.IsZero() {
		k.ended, k.size = time.Now(), sizeOf(task)
		m.ended = append(m.ended, k)
		m.bytes += k.size
	}
	return k
}

// prune drops ended tasks until the bounds hold. The caller holds m.mu.
func (m *Memory) prune() {
	for len(m.ended) > 0 {
		oldest := m.ended[0]
		if !m.crowded() && time.Since(oldest.ended) <= m.bounds.Age {
			return
		}
		m.ended[0] = nil // the array behind the slice outlives the step
		m.ended = m.ended[1:]
		m.bytes -= oldest.size
		delete(m.tasks, oldest.task.ID)
		for _, key := range oldest.keys {
			delete(m.entries, key)
		}
	}
}

// crowded reports whether there are too many ended tasks. One may be as large as
// it likes: its caller is about to read it.
func (m *Memory) crowded() bool {
	return len(m.ended) > m.bounds.Tasks || (m.bytes > m.bounds.Bytes && len(m.ended) > 1)
}

// Load implements [Journal].
func (m *Memory) Load(_ context.Context, id a2a.TaskID) (*a2a.Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prune()
	k := m.tasks[id]
	if k == nil {
		return nil, ErrUnknown
	}
	return k.task, nil
}

// List implements [Journal].
func (m *Memory) List(_ context.Context, query Query) (Page, error) {
	found := m.matching(query)
	slices.SortFunc(found, func(a, b *a2a.Task) int { return position(a).compare(position(b)) })
	page := Page{Total: len(found)}
	if query.After != (Position{}) {
		found = slices.DeleteFunc(found, func(t *a2a.Task) bool { return position(t).compare(query.After) <= 0 })
	}
	page.More = len(found) > query.Limit
	page.Tasks = found[:min(len(found), query.Limit)]
	return page, nil
}

func (m *Memory) matching(query Query) []*a2a.Task {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prune()
	found := make([]*a2a.Task, 0, len(m.tasks))
	for _, k := range m.tasks {
		switch t := k.task; {
		case query.ContextID != "" && t.ContextID != query.ContextID:
		case query.State != "" && t.Status.State != query.State:
		case position(t).Time.Before(query.Since):
		default:
			found = append(found, t)
		}
	}
	return found
}

// sizeOf estimates the memory that a task takes.
func sizeOf(task *a2a.Task) int {
	n := 2048 // what a small task takes beside its texts
	add := func(parts a2a.ContentParts) {
		for _, p := range parts {
			n += 128 + len(p.Text()) + len(p.Raw()) + len(p.URL())
			if p.Data() != nil {
				n += 1024
			}
		}
	}
	for _, a := range task.Artifacts {
		add(a.Parts)
	}
	for _, message := range task.History {
		add(message.Parts)
	}
	return n
}
