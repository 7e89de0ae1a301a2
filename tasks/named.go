package tasks

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// A notAskedError refuses data, which the model could make nothing of: the message becomes
// no turn, of this task or of another.
type notAskedError struct{ error }

func (e notAskedError) Unwrap() error { return e.error }

func asksNothing(t *task) error {
	return notAskedError{refusal.New(a2a.ErrUnsupportedOperation, "task %q asks nothing (any more): the question was answered, or it has expired", t.id)}
}

// names is the id by which a message names the question that it answers, nil if it names none.
func (in *incoming) names() any {
	data, _ := in.Data.(map[string]any)
	return data["id"]
}

// isAnswer reports whether a message is nothing but the answer in data to a question that it names.
func (in *incoming) isAnswer() bool {
	data, _ := in.Data.(map[string]any)
	return in.names() != nil && in.Text == "" && slices.ContainsFunc([]string{"decision", "action", "answers", "content"}, func(key string) bool { return data[key] != nil })
}

// lateAnswer refuses an answer in data where no question is open: to the task that it names, or to
// nobody.
func lateAnswer(in *incoming, t *task) error {
	switch {
	case in.key.Task == "":
		return in.answersNobody()
	case in.isAnswer():
		return asksNothing(t)
	}
	return nil
}

// answersNobody refuses an answer in data that names no task and a question of ours, where no
// task of its conversation asks anything: these are known by their ids, and by what is answered
// to them. Codex asks the user: another agent's data are no answer.
func (in *incoming) answersNobody() error {
	data, _ := in.Data.(map[string]any)
	_, filled := data["content"].(map[string]any)
	decided := filled || data["decision"] != nil || data["answers"] != nil || slices.Contains([]any{"accept", "decline", "cancel"}, data["action"])
	if id, _ := in.names().(string); decided && in.Text == "" && in.from.Answers() && agent.IsQuestionID(id) {
		return notAskedError{refusal.New(a2a.ErrUnsupportedOperation, "question %q is not open in this conversation: name the task that asks it, unless it was answered or has expired", brief.Clip(id, 64))}
	}
	return nil
}

// A lostError says why there can be no turn after the one that has asked: what that ran with is
// not to be had any more. It is no error of the answer, whose sender has named nothing of it.
type lostError struct{ why error }

func (e *lostError) Error() string {
	return "the question is closed, and no turn goes on with its answer: the one that asked had what is not to be had any more (" +
		e.why.Error() + "). Send what is still to be done as a new message"
}

// goOn is what the turn of an answer to questions over a restart runs with.
func goOn(b overrides.Bounds, answer *a2a.Message, open []*question) (agent.Options, error) {
	had := askedWith(open)
	options, err := b.Inherit(answer, had...)
	if err == nil {
		return options, nil
	}
	if _, why := b.Inherit(&a2a.Message{}, had...); why != nil {
		err = &lostError{why}
	}
	return agent.Options{}, err
}

// askedWith is what the turns that have asked the questions ran with.
func askedWith(questions []*question) (overridden []map[string]any) {
	for _, q := range questions {
		overridden = append(overridden, overrides.Of(q.has))
	}
	return overridden
}
