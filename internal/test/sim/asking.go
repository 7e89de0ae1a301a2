package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// pose puts a question to the observer, unless that is not admitted, or too late.
func (t *turn) pose(q *question, late bool) {
	leave, ok := t.d.host.AdmitMute(t.of.Job, t)
	if late || !ok {
		close(q.done)
		return
	}
	q.leave = leave
	t.mu.Lock()
	t.asked++
	q.id = fmt.Sprintf("%s-%d", uuid.NewSHA1(uuid.Nil, []byte(t.of.ClientID())), t.asked)
	t.open = append(t.open, q)
	t.mu.Unlock()
	t.timers.Rest()
	t.of.To.Tell(agent.Question{ID: q.id, Kind: "command", Text: "may I?", Data: map[string]any{"id": q.id}, Deadline: time.Now().Add(ttl)})
	t.of.To.Park()
	time.AfterFunc(ttl, func() { t.give(q, "it was not answered in time") })
}

// answer gives an answer from outside.
func (t *turn) answer(a agent.Answer) error {
	t.mu.Lock()
	i := slices.IndexFunc(t.open, func(q *question) bool { return q.id == a.Question })
	t.mu.Unlock()
	switch {
	case i < 0:
		return executor.ErrNotAsked
	case a.Text == "what?":
		return agent.NotUnderstood("yes or no")
	}
	t.mu.Lock()
	q := t.open[i]
	t.mu.Unlock()
	if !t.give(q, "") {
		return executor.ErrNotAsked
	}
	t.d.change(t.r, func(r *turnRecord) { r.answers = append(r.answers, a.Text) })
	return nil
}

// give answers a question, and reports whether it was open.
func (t *turn) give(q *question, why string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.open, q)
	if i < 0 {
		return false
	}
	q.note = why
	t.open = slices.Delete(t.open, i, i+1)
	t.given = append(t.given, q)
	t.wake()
	return true
}

func (t *turn) wake() {
	select {
	case t.woken <- struct{}{}:
	default:
	}
}

// handAnswers hands the agent what was answered, once the turn has a slot to go on with.
func (t *turn) handAnswers() {
	t.mu.Lock()
	waits := len(t.given)
	t.mu.Unlock()
	if waits == 0 || !t.of.To.Resume(t.wake) {
		return
	}
	t.mu.Lock()
	all := t.given
	t.given = nil
	t.mu.Unlock()
	for _, q := range all {
		q.leave()
		t.of.To.Tell(agent.Answered{ID: q.id, Note: q.note})
		close(q.done)
	}
}

// asks reports whether the agent waits for an answer.
func (t *turn) asks() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)+len(t.given) > 0
}

// take empties what is asked.
func (t *turn) take() []*question {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Concat(t.open, t.given)
	t.open, t.given = nil, nil
	return all
}

// withdraw tells the observer that no answer is needed any more.
func (t *turn) withdraw() {
	for _, q := range t.take() {
		q.leave()
		t.of.To.Tell(agent.Answered{ID: q.id, Note: "the turn has ended"})
	}
}

// closeQuestions is the end of what the turn asks.
func (t *turn) closeQuestions() {
	for _, q := range t.take() {
		q.leave()
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if t.d.turns[t.of.Job] == t {
		delete(t.d.turns, t.of.Job)
	}
}
