package tasks

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// An Answerer is a [Runner] whose turns can ask. Without it, a message to a task
// that asks becomes a further turn.
type Answerer interface {
	// Answer gives the answer to a question of a job. It must not block. An error
	// means that nobody waits for the answer any more.
	Answer(jobID string, answer executor.Answer) error
}

// A question is one that a turn of the task waits for an answer to.
type question struct {
	run   *run
	asked executor.Asked
}

// ask poses a question, or keeps it until those before it are answered.
func (r *run) ask(asked executor.Asked) {
	t := r.task
	r.pushAll()
	t.questions = append(t.questions, &question{r, asked})
	if len(t.questions) == 1 {
		t.pose()
	}
}

// pose brings the task into the state that the open questions make.
func (t *task) pose() {
	state, message := t.waiting()
	t.enter(state, message, store.Change{Durable: true})
}

// waiting is the state that the open questions make, and the message that poses
// the oldest of them. The caller holds t.mu.
func (t *task) waiting() (a2a.TaskState, *a2a.Message) {
	if len(t.questions) == 0 {
		return a2a.TaskStateWorking, nil
	}
	asked := t.questions[0].asked
	parts := []*a2a.Part{a2a.NewTextPart(orElse(asked.Text, emptyQuestion))}
	if asked.Data != nil {
		parts = append(parts, a2a.NewDataPart(asked.Data))
	}
	return a2a.TaskStateInputRequired, t.message(parts...)
}

// dropQuestions takes away the questions that gone says are open no more. What
// was posed stays in the history. The caller holds t.mu.
func (t *task) dropQuestions(gone func(*question) bool) {
	if len(t.questions) == 0 {
		return
	}
	posed := t.questions[0]
	t.questions = slices.DeleteFunc(t.questions, gone)
	if len(t.questions) == 0 || t.questions[0] != posed {
		t.remember(t.status.Message)
		t.pose()
	}
}

// answer gives a message to the turn that asked for it. Without an open question
// it returns nil, and the message is one like any other.
func (e *Engine) answer(ctx context.Context, in *incoming, t *task) (*view, error) {
	answerer, ok := e.cfg.Runner.(Answerer)
	if !ok || t == nil {
		return nil, nil
	}
	a, err := t.take(ctx, in)
	if a == nil || err != nil {
		return nil, err
	}
	err = answerer.Answer(a.asker, executor.Answer{ID: a.job, Question: a.question, Input: in.input, Data: in.data})
	if err == nil {
		t.taken(a)
		return a.view, nil
	}
	e.log.Info("an answer came too late; it becomes a turn", "task_id", t.id, "err", err)
	t.giveBack(ctx, a)
	return nil, nil
}

// A reply is a message that answers a question.
type reply struct {
	message         *a2a.Message
	job             string // of the message, which is no turn
	asker, question string // the job that asked, and what
	view            *view
}

// take commits a message as the answer to the oldest question, and the question
// itself as part of the history. Until it is known that the turn has got it, the
// message stands in the journal's queue: it is not lost if we die.
func (t *task) take(ctx context.Context, in *incoming) (*reply, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.questions) == 0 || t.canceling {
		return nil, nil
	}
	entry, err := t.entry(in)
	if err != nil {
		return nil, err
	}
	status, history, questions, meta := t.status, t.history, t.questions, t.meta
	t.turns++
	a := &reply{message: in.stored(t), job: t.newJob(), asker: questions[0].run.jobID, question: questions[0].asked.ID}
	t.questions = slices.Clone(questions[1:])
	state, message := t.waiting()
	t.status = a2a.TaskStatus{State: state, Timestamp: now(), Message: message}
	t.note(map[string]any{MetaTurn: TurnStarted, MetaAhead: nil})
	t.history = append(slices.Clone(history), status.Message, a.message)
	if err := t.keepReply(ctx, entry(a.message, a.job), status.Message); err != nil {
		t.status, t.history, t.questions, t.meta, t.cached = status, history, questions, meta, nil
		return nil, t.engine.journalError("store the message", err)
	}
	t.adopt(in.push)
	t.announce(store.Change{})
	a.view = t.viewLocked()
	return a, nil
}

// keepReply commits an answer behind the question that it answers.
func (t *task) keepReply(ctx context.Context, entry store.Message, question *a2a.Message) error {
	err := t.engine.cfg.Journal.Write(ctx, store.Change{Task: string(t.id), History: [][]byte{encode(question)}})
	if err != nil {
		return err
	}
	return t.engine.cfg.Journal.Accept(ctx, entry, t.row())
}

// taken notes that an answer has arrived. The turn may have ended over it.
func (t *task) taken(a *reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.status.State.Terminal() {
		t.save(store.Change{Ended: []string{a.job}})
		return
	}
	if err := t.engine.cfg.Journal.Write(context.Background(), store.Change{Ended: []string{a.job}}); err != nil {
		t.engine.log.Error("an answer could not be settled; the next start does it", "task_id", t.id, "err", err)
	}
}

// giveBack undoes what take did to the history. The question stays gone: whoever
// asked it has just said so.
func (t *task) giveBack(ctx context.Context, a *reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.history = slices.DeleteFunc(slices.Clone(t.history), func(m *a2a.Message) bool { return m == a.message })
	t.cached = nil
	row := t.row()
	if err := t.engine.cfg.Journal.Withdraw(ctx, a.job, &row); err != nil {
		t.engine.log.Error("an answer could not be withdrawn", "task_id", t.id, "err", err)
	}
}
