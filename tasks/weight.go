package tasks

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// What is kept in memory of a message until its turn has ended, beside what is in it: its
// task, the job, and the rows that they have in the journal.
const weightOfTask = 4 << 10

// weight is about how many bytes of memory a message takes until its turn has ended. In
// the journal it takes less: there, values are text.
func (in *incoming) weight() int {
	n := sizes.Heap(weightOfTask)
	n.Message(in.message)
	for _, input := range in.Input {
		n.Text(input.Text)
		n.Text(input.URL)
	}
	if len(in.Input) > 0 && !in.Listed { // then a text is one in memory, wherever it stands
		for _, p := range in.message.Parts {
			n -= sizes.Heap(len(p.Text()))
		}
	}
	return int(n)
}

// Answers stay in the history of their task until its end, those that were not understood
// too, and a question can be answered wrongly without end. Short ones have as much room again:
// the question has to have its answer.
const (
	mostAnswers = 4 << 20
	shortAnswer = 16 << 10
	// What is posed again for an answer that was not understood stays, too, and may be a
	// thousand times as long as that.
	mostReposed = 16 << 20
	// So does what was answered, and a turn can ask without end: beyond this the history has that
	// something was asked, and not what.
	mostAsked = 2 << 20
)

// roomForAnswer refuses an answer to a task that has been sent too much of them. The first has room in
// any case.
func (t *state) roomForAnswer(in *incoming) error {
	if t.reposed > mostReposed && in.names() == nil {
		return refusal.New(a2a.ErrInvalidParams, "task %q has posed its question again too often, for answers that were not understood; answer by the id of a question, or cancel it", t.id)
	}
	size, most := in.weight(), mostAnswers
	if size <= shortAnswer {
		most *= 2
	}
	if t.answers == 0 || t.answers+size <= most {
		return nil
	}
	return refusal.New(a2a.ErrInvalidParams, "task %q has been sent answers of %s, which is too much for this one; "+
		"answer what it asks in a few words, or cancel it", t.id, mib(t.answers))
}

// askedBefore is what the history keeps of a message that has posed questions, and about the bytes of
// the message, which are to be counted when it is kept.
func (t *state) askedBefore(posed *a2a.Message) (kept *a2a.Message, bytes int) {
	var n sizes.Heap
	n.Message(posed)
	if t.asked+int(n) <= mostAsked {
		return posed, int(n)
	}
	return inShort(posed, askedTooMuch), int(n)
}

// countAsked counts what was asked: the journal has all of it until the task ends.
func (t *state) countAsked(bytes int) {
	t.asked += bytes
	t.putBehind(bytes)
}

// askedTooMuch stands in the history of a task in the place of what was asked and answered.
const askedTooMuch = "What was asked here, and has its answer, is not kept: the task has asked too much for that."

// countReposed counts what has just been posed again.
func (t *state) countReposed() {
	if t.status.Message == nil {
		return
	}
	var n sizes.Heap
	n.Message(t.status.Message)
	t.reposed += int(n)
}
