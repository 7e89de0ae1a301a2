package executor

import (
	"fmt"
	"sync"
)

// mutes are the turns that wait for answers although their senders may give none, so that
// nobody may be there who knows of it. They are few, and have their places among those that
// hold no slot: else such senders, who can end none of it, could have all others wait for as
// long as a question does.
type mutes struct {
	most int

	mu    sync.Mutex  // guards the field below
	waits map[any]int // the questions that are open, by their turns
}

// newMutes leaves half of the places of turns that wait without a slot to others.
func newMutes(most, questions int) *mutes {
	return &mutes{most: max(0, min(most, questions/2)), waits: map[any]int{}}
}

// enter takes a place for a question, beside those that its turn has open already; room says
// whether there is one for a further turn without a slot.
func (m *mutes) enter(turn any, room bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits[turn] == 0 && (!room || len(m.waits) >= m.most) {
		return false
	}
	m.waits[turn]++
	return true
}

func (m *mutes) leave(turn any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits[turn]--; m.waits[turn] == 0 {
		delete(m.waits, turn)
	}
}

// notice is what is said of questions that were declined because they must not wait.
func (m *mutes) notice(n int) string {
	if m.most == 0 {
		return fmt.Sprintf("Questions that were declined, for they can have no answer here: %d. Answers of another agent are not taken. codex goes on without them.", n)
	}
	return fmt.Sprintf("Questions that were declined, for an answer to them may never come: %d. Answers of another agent are not taken, and at most %d turns "+
		"of such messages wait for those of people, in the console or by `runtime task`. codex goes on without them.", n, m.most)
}
