package tasks

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Words are leave for what their sender was shown last, and what clients have read of a task is
// not known here. A question lapses when it goes without an answer: codex withdraws it, its time
// is up, or the turn that has asked ends. A sender who has been shown that one and no other may
// still answer it, and the model chooses what is asked then. What a turn asks that the workspace or
// the platform has begun, the user has not been shown; and where the user is told something beside,
// a short word may be meant for that. So the next answer that names no question is not taken, if it
// could allow something: it has the question that is first by now posed to its sender, and from then
// on words are for that one.

// lapsedText stands before the question then.
const lapsedText = "Your answer was not taken, for it may be meant for something else than what is asked here. Answer again, to this:"

// unclear reports whether a message may be meant for something else than q, for which it could be
// leave. The caller holds t.mu.
func (t *task) unclear(in *incoming, q *question) bool {
	given := executor.Answer{Text: in.text, Data: in.data}
	return (t.lapsed || q.run.unshown(in)) && in.names() == nil && !given.Declines(q.asked.Kind)
}

// unshown reports whether a message is of one who has not been shown what the turn of the run asks:
// another's message has begun it, and they have answered nothing of it yet. To name the task is to
// have looked at it, but where that is a schedule's or the like, which has an answer of the user's
// come to it by other ways, too. The caller holds t.mu.
func (r *run) unshown(in *incoming) bool {
	if r == nil || r.from == in.from || slices.Contains(r.met, in.from) {
		return false
	}
	return in.key.Task == "" || r.from.isNobody()
}

// meet notes that the sender of an answer has met the turns that ask: the reply to it has what they
// ask by then. The caller holds t.mu.
func meet(questions []*question, by sender) {
	for _, q := range questions {
		if !q.stale() && !slices.Contains(q.run.met, by) {
			q.run.met = append(q.run.met, by)
		}
	}
}

// SaidToUser tells that the user of the workspace is told something, or was just now, that is no
// reply to what they have sent.
func (e *Engine) SaidToUser() {
	for _, t := range e.tasks() {
		t.lapse()
	}
}

func (t *task) lapse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.questions) > 0 && !t.lapsed && !t.status.State.Terminal() {
		t.lapsed = true
		head := t.row()
		t.save(store.Change{Head: &head})
	}
}
