package tasks

import (
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// Words are leave for what their sender was shown last, and what clients have read of a task is
// not known here. A question lapses when it goes without an answer: codex withdraws it, its time
// is up, or the turn that has asked ends. A sender who has been shown that one and no other may
// still answer it, and the model chooses what is asked then. What a turn asks that the workspace or
// the platform has begun, the user has not been shown, nor what has yet to reach them; and where the
// user is told something beside, a short word may be meant for that. So the next answer that names no question is not taken, if it
// could allow something: it has the question that is first by now posed to its sender, and from then
// on words are for that one.

// lapsedText stands before the question then.
const lapsedText = "Your answer was not taken, for it may be meant for something else than what is asked here. Answer again, to this:"

// unclear reports whether a message may be meant for something else than q, for which it could be leave.
func (t *state) unclear(in *incoming, q *question) bool {
	given := agent.Answer{Text: in.Text, Data: in.Data}
	return (in.written.Before(q.at) || t.words.hold(in) || q.unshown(in)) && in.names() == nil && !given.Declines(q.asked.Kind)
}

// unshown reports whether a message is of one who has not been shown what the turn of a question asks:
// another's message has begun it, and they have answered nothing of it yet. To name the task is to
// have looked at it, but where that is a schedule's or the like, which has an answer of the user's
// come to it by other ways, too.
func (q *question) unshown(in *incoming) bool {
	if q.from == in.from || slices.Contains(q.met, in.from) {
		return false
	}
	return in.key.Task == "" || q.from.IsNobody()
}

// meet notes that the sender of an answer has met the turns that ask: the reply to it has what they
// ask by then.
func meet(questions []*question, by origin.Sender) {
	for _, q := range questions {
		q.met = with(q.met, by)
		if !q.stale() {
			q.run.met = with(q.run.met, by)
		}
	}
}

// posts reports whether what is asked reaches who may answer some time later; see [Workspace.Posts].
func (e *Engine) posts() bool { return e.cfg.Workspace != nil && e.cfg.Workspace.Posts }

// unread notes that what is asked now has yet to reach who may answer: that it is the reply to a caller,
// or that those who watch the task see it, is enough.
func (t *state) unread() {
	switch {
	case t.engine.posts() || t.owed && t.waiters.Load() == 0:
		t.words.unseen.begin()
	default:
		t.cross()
	}
}

// cross has words be for what the user was told before, or the turn has said, if anything, for as long
// as they can be on their way.
func (t *state) cross() {
	open := len(t.questions) > 1
	switch posts := t.engine.posts(); {
	case t.words.heardElse && posts:
		t.words.crossing.cross(time.Time{}, time.Second, open)
	case t.words.heardElse:
		t.words.crossing.cross(time.Time{}, 0, open)
	case !t.words.said.IsZero() && !posts: // else what the turn says is not shown as it says it
		t.words.crossing.cross(t.words.said.Add(reading), 0, open)
	}
	t.words.heardElse, t.words.said = false, time.Time{}
}

// posedAgain notes that what is asked was posed to the sender of an answer that was put off.
func (t *state) posedAgain(to origin.Sender) {
	if to.Kind == origin.User { // whose answer was that to what they had been told
		t.words.heardElse = false
	}
	if t.engine.posts() { // it is on its way
		t.words.putOff = with(t.words.putOff, to)
		return
	}
	for _, l := range []*lapse{&t.words.gone, &t.words.unseen, &t.words.crossing} {
		l.posed(to, time.Now())
	}
	askedBy(t.questions, time.Now())
}

// askedBy has questions be asked by the time when they were posed, by the clock that words are written
// by: it may have been put back since they were asked.
func askedBy(questions []*question, posed time.Time) {
	posed = posed.Round(0)
	for _, q := range questions {
		if q.at.Round(0).After(posed) {
			q.at = posed
		}
	}
}

// lost notes that what the task asks has not reached the caller who waited for it.
func (t *task) lost() {
	t.lock()
	defer t.unlock()
	if len(t.questions) > 0 && t.status.State == a2a.TaskStateInputRequired && !t.words.unseen.fresh() {
		t.words.unseen.begin()
		if t.words.crossing.Lapsed && t.words.crossing.from.IsZero() { // by now it crosses with what is asked when that comes late
			t.words.heardElse = true
		}
		head := t.row()
		t.save(store.Change{Head: &head})
	}
}

// saidBeside has words be for nothing that the task asks.
func (t *state) saidBeside() {
	t.words.heardElse, t.words.sending, t.words.putOff = true, "", nil
	if len(t.questions) > 0 && !t.words.gone.fresh() {
		t.words.gone.begin()
		head := t.row()
		t.save(store.Change{Head: &head})
	}
}

// read notes that the user has been posed what the task asks. Where messages do not say who sends them,
// the user is one of those who has.
func (t *state) read() {
	for _, by := range []origin.Sender{{Kind: origin.User}, {}} {
		if by.Kind == origin.User || slices.ContainsFunc(t.questions, func(q *question) bool { return q.from == by }) {
			t.words.unseen.posed(by, t.words.sent)
			meet(t.questions, by)
		}
	}
	for _, by := range t.words.putOff {
		t.words.gone.posed(by, t.words.sent)
		t.words.crossing.posed(by, t.words.sent)
	}
	t.words.putOff = nil
	askedBy(t.questions, t.words.sent)
	t.cross()
	head := t.row()
	t.save(store.Change{Head: &head, Ask: unanswered(t.questions)})
}

// poses reports whether a reply is the one that poses what the task asks now.
func (t *state) poses(reply string) bool {
	return len(t.questions) > 0 && t.status.State == a2a.TaskStateInputRequired && t.status.Message.ID == reply
}

// askedAside notes that a sender has been asked something aside of a conversation: their words may be for that,
// and no more for what they were asked in it before.
func (e *Engine) askedAside(conversation string, from origin.Sender) {
	if conversation == "" {
		return
	}
	for _, t := range e.ofConversation(conversation) {
		if t.conversation == conversation {
			t.askedBeside(from)
		}
	}
}

func (t *task) askedBeside(from origin.Sender) {
	t.lock()
	defer t.unlock()
	if slices.ContainsFunc(t.questions, func(q *question) bool { return q.from == from || slices.Contains(q.met, from) }) {
		t.saidBeside()
	}
}
