package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A question over a restart of ours has lost its turn, which waited in the codex
// that ended with us. It stays open, marked stale, and its answer makes one new
// turn that carries both. Past its deadline the task ends as interrupted.

// carried is what stands before the answer in the turn that carries both. What was asked can
// be others' words, a server's of tools say, which must not pass for the user's, nor name a
// skill that codex would add as the user's.
// An answer to one of several says to which.
func carried(questions []*question, answer *a2a.Message) string {
	var b strings.Builder
	b.WriteString("Before the runtime was restarted you had asked the user something, and the turn was cut off while you waited. " +
		"What you asked leave for may not have been done: look at how things stand, and go on from there.\n")
	named, to := namedIn(answer), ""
	for i, q := range questions {
		number := ""
		if len(questions) > 1 {
			number = fmt.Sprint(" ", i+1)
		}
		if q.asked.ID == named && number != "" {
			to = ", to question" + number + " alone"
		}
		b.WriteString("\nYour question" + number + ":\n" + brief.Indented(peerwords.WithoutMentions(brief.Or(q.asked.Text, reply.EmptyQuestion))) + "\n")
	}
	b.WriteString("\nThe user's answer" + to + ":")
	return b.String()
}

// namedIn is the id of the question that a message answers in data, "" if it names none.
func namedIn(m *a2a.Message) string {
	for _, part := range m.Parts {
		if data, ok := part.Data().(map[string]any); ok {
			id, _ := data["id"].(string)
			return id
		}
	}
	return ""
}

// answersStale reports whether the question that a message answers is stale.
func (t *task) answersStale(in *incoming) bool {
	t.lock()
	defer t.unlock()
	i, ok := t.pick(in)
	return ok && t.questions[i].stale() && !t.unclear(in, t.questions[i]) && !t.canceling
}

// anyStale reports whether a question is open whose turn is gone.
func (t *state) anyStale() bool { return slices.ContainsFunc(t.questions, (*question).stale) }

// closeStale commits a message as the answer to stale questions.
func (t *state) closeStale(ctx context.Context, m store.Message, open []*question) error {
	status, history, questions := t.status, t.history, t.questions
	posed, bytes := t.askedBefore(t.posed())
	t.questions = slices.DeleteFunc(slices.Clone(questions), (*question).stale)
	if status.State == a2a.TaskStateInputRequired { // else the turn of another message has its say
		state, message := t.waiting()
		t.status = a2a.TaskStatus{State: state, Timestamp: now(), Message: message}
	}
	t.history = append(slices.Clone(history), posed)
	t.touch()
	if err := t.keepReply(ctx, m, posed, open...); err != nil {
		t.status, t.history, t.questions = status, history, questions
		t.touch()
		return err
	}
	t.countAsked(bytes)
	t.disarmExpiry()
	t.announce(store.Change{})
	return nil
}

// reopen poses questions again whose answer could not be taken.
func (t *task) reopen(open []*question) {
	t.lock()
	defer t.unlock()
	if t.status.State.Terminal() || len(t.questions) > 0 {
		return
	}
	t.questions = open
	t.pose(store.Change{Ask: unanswered(open)})
	t.armExpiry()
}

// takeUp sorts out what an earlier process has asked. It returns the messages
// that are still to become turns: those that have asked are not among them, for
// they have had their turn; those that have answered carry the questions.
func (t *state) takeUp(pending store.Pending) (left []store.Message, carries map[string][]*question, err error) {
	carries = map[string][]*question{}
	asked := map[string]bool{}
	for _, row := range pending.Questions {
		q, by, err := readQuestion(row)
		if err != nil {
			return nil, nil, err
		}
		asked[q.job] = true
		if slices.ContainsFunc(pending.Messages, func(m store.Message) bool { return m.Job == by }) {
			carries[by] = append(carries[by], q)
		} else {
			t.questions = append(t.questions, q)
		}
	}
	for _, m := range pending.Messages {
		if asked[m.Job] {
			t.cutOff = append(t.cutOff, m.Job)
			t.carried = append(t.carried, ids(carries[m.Job])...)
		} else {
			left = append(left, m)
		}
	}
	return left, carries, nil
}

// carry is the input of a message that answers stale questions.
func carry(questions []*question, answer *a2a.Message, input []agent.Input) []agent.Input {
	if len(questions) == 0 {
		return input
	}
	return append([]agent.Input{agent.Text(carried(questions, answer))}, input...)
}

// carry makes the run's turn carry the questions that its message has answered.
func (r *run) carry(questions []*question) {
	if len(questions) == 0 {
		return
	}
	r.input = carry(questions, r.message, r.input)
	if r.refused == nil {
		r.options, r.refused = goOn(r.task.engine.cfg.Bounds, r.message, questions)
	}
	for _, q := range questions {
		r.answers = append(r.answers, q.asked.ID)
	}
}

// poseStale says that the turns which have asked were cut off, and poses their questions anew.
func (t *state) poseStale() {
	change := store.Change{Ended: t.cutOff, Cut: t.cutOff, Ask: unanswered(t.questions), Drop: t.carried}
	t.cutOff, t.carried = nil, nil
	if t.canceling { // nobody is asked any more
		t.canceled = true
		change.Drop, change.Ask, t.questions = append(change.Drop, ids(t.questions)...), nil, nil
	}
	if len(change.Ended) > 0 {
		t.note(map[string]any{keys.Interrupted: true})
	}
	if len(t.questions) == 0 {
		if len(change.Ended)+len(change.Drop) > 0 {
			row := t.row()
			change.Head = &row
			t.save(change)
		}
		return
	}
	t.pose(change)
	t.armExpiry()
}

// armExpiry starts the timer of the stale questions' deadline.
func (t *state) armExpiry() {
	var first time.Time
	for _, q := range t.questions {
		if at := q.asked.Deadline; q.stale() && !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() || t.engine.root.Err() != nil {
		return
	}
	t.disarmExpiry()
	t.engine.wg.Add(1)
	t.expiry = time.AfterFunc(time.Until(first), t.task.expire)
}

// expire is the timer: nobody has answered in time what cannot be gone on with.
func (t *task) expire() {
	defer t.engine.wg.Done()
	t.lock()
	defer t.unlock()
	t.expiry = nil
	if t.engine.root.Err() != nil || t.status.State.Terminal() || !t.anyStale() {
		return
	}
	due := func(q *question) bool {
		return q.stale() && !q.asked.Deadline.IsZero() && !time.Now().Before(q.asked.Deadline)
	}
	if len(t.runs) > 0 || slices.ContainsFunc(t.questions, func(q *question) bool { return !due(q) }) {
		t.dropQuestions(tooLate, due)
		t.armExpiry()
		return
	}
	t.ending = endingOf(agent.Ended{Outcome: agent.Interrupted, Failure: &agent.Failure{
		Kind: agent.FailUnreachable, Message: tooLate + " The turn that asked was cut off by a restart; send the message again if it is still needed.",
	}}, nil)
	t.end(store.Change{})
}

const tooLate = "The question was not answered in time (CODEX_QUESTION_TTL)."

// setAside leaves a task that only waits for its caller to the next process.
func (t *task) setAside() {
	t.lock()
	defer t.unlock()
	if len(t.runs) > 0 || t.status.State.Terminal() || !t.anyStale() {
		return
	}
	t.disarmExpiry()
	t.disarmSave()
	if t.rec.dirty() {
		t.save(store.Change{})
	}
	t.engine.forget(t)
	t.sync()
	close(t.over)
}
