package tasks

import (
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Words are leave for what their sender was shown last, and what clients have read of a task is
// not known here. A question lapses when it goes without an answer: codex withdraws it, its time
// is up, or the turn that has asked ends. A sender who has been shown that one and no other may
// still answer it, and the model chooses what is asked then. What is asked in a turn that nobody
// has sent a message for who may answer was shown to nobody; and where the user is told something
// beside, a short word may be meant for that. So the next answer that names no question is not
// taken, if it could allow something: it has the question that is first by now posed to its
// sender, and from then on words are for that one.

// lapsedText stands before the question then.
const lapsedText = "Your answer was not taken, for it may be meant for something else than what is asked here. Answer again, to this:"

// unclear reports whether a message may be meant for something else than q, for which it could be
// leave. The caller holds t.mu.
func (t *task) unclear(in *incoming, q *question) bool {
	given := executor.Answer{Text: in.text, Data: in.data}
	return t.lapsed && in.names() == nil && !given.Declines(q.asked.Kind)
}

// unshown reports whether what the run asks is posed to nobody who may answer: its message is the
// platform's or the workspace's own. To another agent's task, likewise, nobody answers who does not
// name it. The caller holds t.mu.
func (r *run) unshown() bool { return r.task.engine.sender(r.message, nil).origin == fromPlatform }

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

// userTool is the tool by which a model says something to the user.
const userTool = "send_message_to_user"

// heardByUser has words to the user count as such, by whichever door the tool was called.
func (e *Engine) heardByUser(event executor.Event) {
	var item appserver.Item
	switch event := event.(type) {
	case executor.ItemStarted:
		item = event.Item
	case executor.ItemCompleted:
		item = event.Item
	}
	if item.Tool == userTool {
		e.SaidToUser()
	}
}
