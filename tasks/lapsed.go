package tasks

import "github.com/Molecule-AI/molecule-codex-runtime/executor"

// A question lapses when it goes without an answer: codex withdraws it, its time is up, or
// the turn that has asked ends. A sender who has been shown that one and no other may still
// answer it, and the model chooses what is asked then. What clients have read of a task is
// not known here. So the next answer that names no question is not taken, if it could allow
// something: it has the question that is first by now posed to its sender, and from then on
// words are for that one.

// lapsedText stands before the question then.
const lapsedText = "Your answer was not taken, for it may be meant for something else: a question asked before is open no more, " +
	"withdrawn or not answered in time. Answer again, to what is asked now:"

// unclear reports whether a message may be meant for a question that has lapsed, and not for
// q, for which it could be leave. The caller holds t.mu.
func (t *task) unclear(in *incoming, q *question) bool {
	given := executor.Answer{Text: in.text, Data: in.data}
	return t.lapsed && in.names() == nil && !given.Declines(q.asked.Kind)
}
