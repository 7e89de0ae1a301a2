package executor

import (
	"fmt"
	"slices"
	"sync"
)

// mutes are the turns that wait for answers although their senders may give none, so that
// nobody may be there who knows of it. They are few, and have their places among those that
// hold no slot: else such senders, who can end none of it, could have all others wait for as
// long as a question does.
type mutes struct {
	most int

	mu    sync.Mutex       // guards the field below
	waits map[*inquiry]int // the questions that are open, by their turns
}

// newMutes leaves half of the places of turns that wait without a slot to others.
func newMutes(most, questions int) *mutes {
	return &mutes{most: max(0, min(most, questions/2)), waits: map[*inquiry]int{}}
}

// admitMute reports whether a question of in may wait for its answer, as far as that is a
// matter of who has sent the job. If it may, leave is to be called when it waits no more.
func (e *Executor) admitMute(in *inquiry) (leave func(), ok bool) {
	switch {
	case !e.isMute(in.Job):
		return func() {}, true
	case e.mutes.enter(in, e.slots.canPark()):
		return func() { e.mutes.leave(in) }, true
	}
	return nil, false
}

// isMute reports whether nobody whose answers are taken has a message in the turn of a job.
func (e *Executor) isMute(jobID string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[jobID]
	return j != nil && j.Mute && !slices.ContainsFunc(j.steers, func(s *job) bool { return !s.Mute })
}

// enter takes a place for a question, beside those that its turn has open already; room says
// whether there is one for a further turn without a slot.
func (m *mutes) enter(in *inquiry, room bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits[in] == 0 && (!room || len(m.waits) >= m.most) {
		return false
	}
	m.waits[in]++
	return true
}

func (m *mutes) leave(in *inquiry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits[in]--; m.waits[in] == 0 {
		delete(m.waits, in)
	}
}

// notice is what is said of questions that were declined because they must not wait.
func (m *mutes) notice(n int) string {
	if m.most == 0 {
		return fmt.Sprintf("Questions that were declined, for nobody may answer them here: %d. Answers of another agent are not taken. codex goes on without them.", n)
	}
	return fmt.Sprintf("Questions that were declined, for nobody may be there to answer them: %d. Answers of another agent are not taken, and at most %d turns "+
		"of such messages wait for those of people, in the console or by `runtime task`. codex goes on without them.", n, m.most)
}

// exceededMute returns how many questions were not admitted since it was called last.
func (in *inquiry) exceededMute() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n, in.muted = in.muted, 0
	return n
}
