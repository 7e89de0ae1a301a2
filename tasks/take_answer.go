package tasks

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// pick finds the question that a message answers: the one whose id stands in its data, else the oldest.
func (t *state) pick(in *incoming) (i int, ok bool) {
	named := in.names()
	if named == nil {
		return 0, len(t.questions) > 0
	}
	id, _ := named.(string) // what is no text is the id of no question
	i = slices.IndexFunc(t.questions, func(q *question) bool { return q.asked.ID == id })
	return i, i >= 0
}

// take commits a message as the answer to a question, and what was posed as part
// of the history. The question stays in the journal, with the name of its answer,
// until it is known that the turn has got that: neither is lost if we die.
func (t *task) take(ctx context.Context, in *incoming) (*given, error) {
	t.lock()
	defer t.unlock()
	if t.status.State.Terminal() || t.canceling {
		return nil, nil
	}
	if len(t.questions) == 0 {
		return nil, lateAnswer(in, t)
	}
	if err := t.roomForAnswer(in); err != nil {
		return nil, err
	}
	entry, err := t.entry(in)
	if err != nil {
		return nil, err
	}
	status, history, questions, meta := t.status, t.history, t.questions, t.meta
	turns, answers, owed := t.turns, t.answers, t.owed
	posed, bytes := t.askedBefore(t.posed())
	t.turns++
	t.answers += in.weight()
	t.owed = t.owed || in.receipt != nil
	a := &given{message: in.stored(t), job: t.newJob(), from: in.from}
	switch i, ok := t.pick(in); {
	case !ok:
		a.why = "No question of that id is open."
	case t.unclear(in, questions[i]):
		a.why, a.unclear = lapsedText, true
	default:
		a.index, a.question = i, questions[i]
		t.questions = slices.Delete(slices.Clone(questions), i, i+1)
	}
	state, message := t.waiting()
	t.status = a2a.TaskStatus{State: state, Timestamp: now(), Message: message}
	t.note(map[string]any{keys.Turn: keys.TurnStarted, keys.Ahead: nil})
	t.history = append(slices.Clone(history), posed, a.message)
	if err := t.keepReply(ctx, entry(a.message, a.job), posed, a.question); err != nil {
		t.status, t.history, t.questions, t.meta = status, history, questions, meta
		t.touch()
		t.turns, t.answers, t.owed = turns, answers, owed
		return nil, t.engine.journalError("store the message", err)
	}
	t.countAsked(bytes)
	if !t.engine.posts() {
		meet(questions, in.from)
	}
	if a.question != nil {
		t.given = append(t.given, a)
	}
	t.expect(in.receipt)
	t.adopt(in.push)
	if a.question != nil { // else it is posed again at once
		t.announce(store.Change{})
	}
	a.view = t.viewLocked()
	return a, nil
}

// keepReply commits an answer behind what posed the question, and all of it at once: a
// question that named an answer which was not accepted would be the next message's, be that
// another agent's.
func (t *state) keepReply(ctx context.Context, entry store.Message, posed *a2a.Message, answered ...*question) error {
	entry.Answers = &store.Answers{Posed: codec.Encode(posed)}
	for _, q := range answered {
		if q != nil {
			entry.Answers.Questions = append(entry.Answers.Questions, q.row(entry.Job))
		}
	}
	if err := t.engine.cfg.Journal.Accept(ctx, entry, t.row()); err != nil {
		return err
	}
	for _, q := range entry.Answers.Questions {
		t.rec.unask(q.ID)
	}
	return nil
}

// poseAgain puts the question again that a message did not answer, and says why.
// The message stays in the history.
func (t *task) poseAgain(a *given, why string) *view {
	t.lock()
	defer t.unlock()
	t.ungive(a)
	change := store.Change{Ended: []string{a.job}}
	if t.status.State.Terminal() { // over it
		if a.question != nil {
			change.Drop = []string{a.question.asked.ID}
		}
		t.save(change)
		return t.viewLocked()
	}
	for _, q := range t.questions {
		q.why = ""
	}
	switch q := a.question; {
	case q != nil && q.closed:
		t.words.gone.begin()
		change.Drop = []string{q.asked.ID}
	case q != nil:
		q.why = why
		t.questions = slices.Insert(slices.Clone(t.questions), min(a.index, len(t.questions)), q)
		change.Ask = []store.Question{q.row("")}
	case len(t.questions) > 0:
		t.questions[0].why = why
		if a.unclear {
			t.posedAgain(a.from)
			change.Ask = unanswered(t.questions)
		}
	}
	t.pose(change)
	if !a.unclear { // it was understood
		t.countReposed()
	}
	return t.viewLocked()
}

// giveBack undoes what take did to the history. The question stays gone: whoever
// asked it has just said so.
func (t *task) giveBack(ctx context.Context, a *given) {
	t.lock()
	defer t.unlock()
	t.ungive(a)
	change := store.Change{Task: string(t.id), Drop: []string{a.question.asked.ID}}
	if err := t.engine.cfg.Journal.Write(ctx, change); err != nil { // before the message that it names is gone
		t.engine.log.Error("a question could not be dropped", "task_id", t.id, "err", err)
	}
	t.words.gone.begin()
	t.history = slices.DeleteFunc(slices.Clone(t.history), func(m *a2a.Message) bool { return m == a.message })
	t.touch()
	t.turns-- // its turn has the number that it had
	row := t.row()
	if err := t.engine.cfg.Journal.Withdraw(ctx, a.job, &row); err != nil {
		t.turns++ // the journal has a message of that number still
		t.engine.log.Error("an answer could not be withdrawn", "task_id", t.id, "err", err)
	}
}
