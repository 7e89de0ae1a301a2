package tasks

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// A given is a message that answers a question. It is one of its task's given until it
// is known what became of it: the runner may keep an answer until its turn can go on.
// All that time the journal has the question with the name of the message, so that the
// next process carries both.
type given struct {
	message  *a2a.Message
	job      string // of the message, which is no turn
	from     origin.Sender
	question *question // nil if it names one that is not open
	index    int       // of the question among the open ones
	why      string    // it answers none
	unclear  bool      // that is because of one that has lapsed
	view     *view
	handed   bool   // the runner has it
	note     string // why it had no effect; empty if it had
}

// ungive takes an answer away that was not given.
func (t *state) ungive(a *given) {
	t.given = slices.DeleteFunc(slices.Clone(t.given), func(other *given) bool { return other == a })
}

// handed notes that the runner has taken an answer. Its turn may have got it, or ended,
// over that.
func (t *task) handed(a *given) {
	t.lock()
	defer t.unlock()
	a.handed = true
	if a.question.closed || t.status.State.Terminal() {
		t.settleGiven(a)
	}
}

// closeGiven closes the questions that gone says need no answer any more: it has reached its turn, or it
// never will, and the note says why.
func (t *state) closeGiven(note string, gone func(*question) bool) {
	for _, a := range slices.Clone(t.given) {
		if !gone(a.question) {
			continue
		}
		a.question.closed, a.note = true, note
		if a.handed {
			t.settleGiven(a)
		}
	}
}

// settleGiven ends the message of an answer.
func (t *state) settleGiven(a *given) {
	t.ungive(a)
	change := store.Change{Ended: []string{a.job}, Drop: []string{a.question.asked.ID}}
	if !t.status.State.Terminal() {
		if a.note != "" {
			t.remember(t.message(a2a.NewTextPart(a.note)))
			t.tell(map[string]any{"type": "notice", "text": a.note})
		}
		t.save(change)
		return
	}
	change.Task = string(t.id)
	if err := t.engine.cfg.Journal.Write(context.Background(), change); err != nil {
		t.engine.log.Error("an answer could not be settled; the next start does it", "task_id", t.id, "err", err)
	}
}

// endGiven ends the messages of the replies of a task that ends with a change. Those that are on their
// way to the runner end when they have arrived.
func (t *state) endGiven(change *store.Change) {
	for _, a := range slices.Clone(t.given) {
		if a.handed {
			t.ungive(a)
			change.Ended = append(change.Ended, a.job)
			change.Drop = append(change.Drop, a.question.asked.ID)
		}
	}
}

// leftWithQuestion reports whether the end of the run's turn leaves what it has asked to
// the next process, and the answers that it has not got.
func (r *run) leftWithQuestion(event agent.Ended) bool {
	given := slices.ContainsFunc(r.task.given, func(a *given) bool { return a.question.run == r })
	return stops(event) && (given || r.asks())
}

// parks reports whether a message is left to the next process: this one stops,
// and no tool of its turn has done anything yet. One whose turn waits for an
// answer is left to it in any case, with its question.
func parks(event agent.Ended) bool { return stops(event) && !event.Tools }

func stops(event agent.Ended) bool {
	return event.Failure != nil && event.Failure.Kind == agent.FailShutdown
}

// asks reports whether the run's turn waits for an answer.
func (r *run) asks() bool {
	return slices.ContainsFunc(r.task.questions, func(q *question) bool { return q.run == r })
}
