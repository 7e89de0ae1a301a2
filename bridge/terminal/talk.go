package terminal

import "github.com/Molecule-AI/molecule-codex-runtime/bridge"

// A talk is with the questions of a task: the oldest is asked, and keeps what was given to it until it
// is settled.
type talk struct{ dialogue *dialogue }

// follow has the talk be about the oldest of the open questions, and reports whether that is another
// one, or none any more.
func (t *talk) follow(open []bridge.Question) (changed bool) {
	if len(open) == 0 {
		changed = t.dialogue != nil
		t.dialogue = nil
		return changed
	}
	if t.dialogue != nil && t.dialogue.question.RequestID == open[0].RequestID {
		t.dialogue.question = open[0]
		return false
	}
	t.dialogue = newDialogue(open[0])
	return true
}

// again begins anew with a question whose answer did not arrive, if it is still asked.
func (t *talk) again(question string) {
	if t.dialogue != nil && t.dialogue.question.RequestID == question {
		t.dialogue = newDialogue(t.dialogue.question)
	}
}

// asked is the id of the question, "" if there is none.
func (t *talk) asked() string {
	if t.dialogue == nil {
		return ""
	}
	return t.dialogue.question.RequestID
}

// secret reports whether what is written now is not to be seen.
func (t *talk) secret() bool {
	if t.dialogue == nil {
		return false
	}
	f := t.dialogue.field()
	return f != nil && f.Secret
}
