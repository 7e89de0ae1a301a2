package tasks

import (
	"context"
	"slices"
	"strings"
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

// A lapse is what is known of words that may be meant for something else than what a task asks.
type lapse struct {
	Lapsed  bool            `json:"lapsed,omitempty"`
	PosedTo []origin.Sender `json:"posedTo,omitempty"` // who have been posed since then what is asked
	Since   time.Time       `json:"since,omitzero"`    // they have; what was written before is for something else

	from, until time.Time // it holds between these; zero if it does from the beginning, or does not pass by itself
}

// holds reports whether a message may be meant for something else.
func (l *lapse) holds(in *incoming) bool {
	over := !l.until.IsZero() && in.written.After(l.until)
	return l.Lapsed && !over && !in.written.Before(l.from) && (!slices.Contains(l.PosedTo, in.from) || in.written.Before(l.Since))
}

// fresh reports whether nobody has been posed since what is asked.
func (l *lapse) fresh() bool { return l.Lapsed && len(l.PosedTo) == 0 }

// words is what is known of words that answer what a task asks: three lapses, and what they go by.
type words struct {
	gone     lapse // a question has gone without an answer, or the user was told something beside
	unseen   lapse // what is asked has not reached who may answer
	crossing lapse // its sender was told something before it was asked, and words may be on their way

	said      time.Time       // the turn has begun to say something, and nothing has been asked since; zero if it has not
	heardElse bool            // the user was told something beside, and nothing has been asked since
	putOff    []origin.Sender // whose answer was, and who have not got yet what was posed again
	sending   string          // the message that asks, while it is on its way to the user by others and nothing was told since
	sent      time.Time       // that was
}

// hold reports whether a message may be meant for something else.
func (w *words) hold(in *incoming) bool {
	return w.gone.holds(in) || w.unseen.holds(in) || w.crossing.holds(in)
}

// crossing is how long after a question words can be for what the user was told before it: they are
// on their way. By an inbox it is known to a second when they were written.
const crossing = 2 * time.Second

// reading is how long nobody has read what a turn says, and answered it: words that come sooner are for
// what is asked.
const reading = 1500 * time.Millisecond

func (l *lapse) begin() { *l = lapse{Lapsed: true} }

// cross begins one that passes, for words that are written from a time on, or from where one holds that
// has not passed, or that a question has which is still open: words may come late.
func (l *lapse) cross(from time.Time, more time.Duration, open bool) {
	if l.Lapsed && l.from.Before(from) && (open || time.Now().Before(l.until)) {
		from = l.from
	}
	*l = lapse{Lapsed: true, from: from, until: time.Now().Add(crossing + more)}
}

// posed notes that a sender has been posed what is asked.
func (l *lapse) posed(to origin.Sender, at time.Time) {
	if l.Lapsed {
		l.PosedTo, l.Since = with(slices.Clone(l.PosedTo), to), at
	}
}

// unclear reports whether a message may be meant for something else than q, for which it could be
// leave. The caller holds t.mu.
func (t *task) unclear(in *incoming, q *question) bool {
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

func with(all []origin.Sender, one origin.Sender) []origin.Sender {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// posts reports whether what is asked reaches who may answer some time later; see [Workspace.Posts].
func (e *Engine) posts() bool { return e.cfg.Workspace != nil && e.cfg.Workspace.Posts }

// unread notes that what is asked now has yet to reach who may answer: that it is the reply to a
// caller, or that those who watch the task see it, is enough. The caller holds t.mu.
func (t *task) unread() {
	switch {
	case t.engine.posts() || t.owed && t.waiters.Load() == 0:
		t.words.unseen.begin()
	default:
		t.cross()
	}
}

// cross has words be for what the user was told before, or the turn has said, if anything, for as long as
// they can be on their way. The caller holds t.mu.
func (t *task) cross() {
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

// says notes that the turn has something shown that it says. The caller holds t.mu.
func (t *task) says() {
	if t.words.said.IsZero() {
		t.words.said = time.Now()
	}
}

// posedAgain notes that what is asked was posed to the sender of an answer that was put off. The caller
// holds t.mu.
func (t *task) posedAgain(to origin.Sender) {
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

// SaidToUser tells that the user of the workspace is told something, or was just now, that is no
// reply to what they have sent.
func (e *Engine) SaidToUser() { e.Telling("", "", Sends) }

// A Delivery is how far a reply has come that others bring to the user.
type Delivery int

// What is said of one.
const (
	Sends   Delivery = iota // it is about to be sent, and nobody has been shown it
	Failed                  // that has failed, or it is not known whether it has arrived
	Arrived                 // the platform has it
)

// Telling says of a reply to the user that is not the answer to a call, by the id of its message, how far
// it has come, before each try and after it. To what other tasks of its conversation ask it is something
// beside; without the name of one, to those of all.
func (e *Engine) Telling(conversation, reply string, how Delivery) {
	for _, t := range e.tasks() {
		if conversation == "" || conversation == t.about() {
			t.beside(reply, how)
		}
	}
}

func (t *task) beside(reply string, how Delivery) {
	t.lock()
	defer t.unlock()
	switch {
	case t.status.State.Terminal():
	case !t.poses(reply):
		if !strings.HasPrefix(reply, string(t.id)) { // else it has posed what is asked, and has been posed again since
			t.saidBeside()
		}
	case how == Sends:
		t.words.sending, t.words.sent = reply, time.Now()
	case how == Arrived && t.words.sending == reply: // and nothing was told since it was sent
		t.read()
	}
}

// saidBeside has words be for nothing that the task asks. The caller holds t.mu.
func (t *task) saidBeside() {
	t.words.heardElse, t.words.sending, t.words.putOff = true, "", nil
	if len(t.questions) > 0 && !t.words.gone.fresh() {
		t.words.gone.begin()
		head := t.row()
		t.save(store.Change{Head: &head})
	}
}

// read notes that the user has been posed what the task asks. Where messages do not say who sends
// them, the user is one of those who has. The caller holds t.mu.
func (t *task) read() {
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

// poses reports whether a reply is the one that poses what the task asks now. The caller holds t.mu.
func (t *task) poses(reply string) bool {
	return len(t.questions) > 0 && t.status.State == a2a.TaskStateInputRequired && t.status.Message.ID == reply
}

type writtenKey struct{}

// WithWritten returns the context of a message that was written before it comes here; the zero time is
// not known.
func WithWritten(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, writtenKey{}, at)
}

func writtenAt(ctx context.Context) time.Time {
	if at, _ := ctx.Value(writtenKey{}).(time.Time); !at.IsZero() {
		return at
	}
	return time.Now()
}
