package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// books are what clients have heard.
type books struct {
	story *story

	mu       sync.Mutex
	messages []*message
	ends     map[a2a.TaskID]a2a.TaskState
	replies  map[a2a.TaskID]int
	open     map[a2a.TaskID]bool  // a reply is on its way
	canceled map[a2a.TaskID]bool  // that was asked for
	unsaved  map[a2a.TaskID]bool  // that could not be saved once: what was told of them then may not hold after a death
	taken    map[string][]string  // by job, the jobs whose messages its turn is said to have had
	answered map[string]time.Time // by question, when its answer was accepted
	faults   []fault
}

// A fault is something that must not be.
type fault struct {
	about *message // nil for none
	what  string
}

func newBooks(s *story) *books {
	return &books{
		story: s, ends: map[a2a.TaskID]a2a.TaskState{}, replies: map[a2a.TaskID]int{}, open: map[a2a.TaskID]bool{}, canceled: map[a2a.TaskID]bool{},
		unsaved: map[a2a.TaskID]bool{}, taken: map[string][]string{}, answered: map[string]time.Time{},
	}
}

func (b *books) add(m *message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, m)
}

// fault notes something that must not be.
func (b *books) fault(m *message, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faultLocked(m, format, args...)
}

func (b *books) faultLocked(m *message, format string, args ...any) {
	b.faults = append(b.faults, fault{m, fmt.Sprintf(format, args...)})
}

// accept notes the task of a message. It has one, and a further one for each time that it is to be run again. That
// is asked twice at the same time: where the first has its end before the second comes, which cut says of the newest
// task, there is one more.
func (b *books) accept(m *message, id a2a.TaskID, cut func(a2a.TaskID) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch known := slices.Contains(m.tasks, id); {
	case known:
		return
	case len(m.tasks) > 2*m.retries, len(m.tasks) > m.retries && !cut(m.tasks[len(m.tasks)-1]):
		b.faultLocked(m, "it is of %d tasks: %v, and %s", len(m.tasks)+1, m.tasks, id)
	}
	m.tasks = append(m.tasks, id)
	if !m.accepted {
		b.story.tell(m.id, "it is accepted as task %s", id)
	}
	m.accepted, m.task = true, id
}

func (b *books) refuse(m *message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.refused = true
}

// taskOf is the task of a message; empty while it has none.
func (b *books) taskOf(m *message) a2a.TaskID {
	b.mu.Lock()
	defer b.mu.Unlock()
	return m.task
}

// retries notes that a message is to be run again, if it was cut off.
func (b *books) retries(m *message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.retries++
}

// takes notes which messages a turn is said to have had.
func (b *books) takes(job string, taken []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken[job] = taken
}

// answers notes that the answer to a question was accepted.
func (b *books) answers(question string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered[question] = time.Now()
}

// poses holds a question that is posed against the answers.
func (b *books) poses(m *message, id a2a.TaskID, question string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, answered := b.answered[question]; answered && time.Since(at) > time.Second && !b.unsaved[id] {
		b.faultLocked(m, "its question %s is posed, and was answered %v before", question, time.Since(at))
	}
}

// lacks notes that a task could not be saved.
func (b *books) lacks(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsaved[a2a.TaskID(id)] = true
}

// cancels notes that the end of a task was asked for.
func (b *books) cancels(id a2a.TaskID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.canceled[id] = true
}

// all are the messages as they are.
func (b *books) all() (all []message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		all = append(all, *m)
	}
	return all
}

// decided reports whether a message was accepted, or never will be.
func (b *books) decided(m *message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return m.accepted || m.refused
}

// end notes the end of a task, which is the same for all.
func (b *books) end(m *message, id a2a.TaskID, state a2a.TaskState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if before, ended := b.ends[id]; ended && before != state && !b.unsaved[id] {
		b.faultLocked(m, "its task has ended as %s, and as %s", before, state)
	}
	if _, ended := b.ends[id]; !ended {
		b.story.tell(m.id, "its end is heard: %s", state)
	}
	b.ends[id] = state
}

// asked counts the questions of a task; first is false while a reply is on its way.
func (b *books) asked(id a2a.TaskID) (n int, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[id] {
		return 0, false
	}
	b.open[id] = true
	b.replies[id]++
	return b.replies[id], true
}

func (b *books) replied(id a2a.TaskID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[id] = false
}
