package terminal

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// A Runtime is what a terminal asks of one: it is [bridge.Client].
type Runtime interface {
	// Watch hands on what happens in a task until it has ended.
	Watch(ctx context.Context, id string, see bridge.Sight) (*bridge.Task, error)
	// Do performs an action, and Say answers a question in words.
	Do(ctx context.Context, a bridge.Args) (any, error)
	Say(ctx context.Context, id, question, words string) (*bridge.Task, error)
}

// Config describes a place at a task. All but Plain and Interrupted must be set.
type Config struct {
	Runtime Runtime
	Task    *bridge.Task // as it was when the place was opened

	In      io.Reader
	Out     io.Writer
	Environ []string
	// Plain writes each thing once, below the one before.
	Plain bool
	// Interrupted is closed with the first SIGINT: when Ctrl-C is pressed where the terminal does not
	// give us the key itself. May be nil.
	Interrupted <-chan struct{}
}

// ErrLeft reports that the person has left, and the task goes on.
var ErrLeft = errors.New("left")

// Run shows a task until it has ended, and returns how. It is an error if the person leaves
// before ([ErrLeft]), which the end of ctx is, too, or if the runtime is away for too long.
func Run(ctx context.Context, cfg Config) (*bridge.Task, error) {
	if cfg.Plain || dumb(cfg.Environ) {
		return newPlain(cfg, time.Now).run(ctx)
	}
	return runScreen(ctx, newScreen(ctx, cfg, time.Now))
}

// deed asks the runtime for something on the person's behalf.
type deed struct {
	runtime Runtime
	task    string
}

// steer tells the task something, and returns what became of that.
func (d deed) steer(ctx context.Context, text string) (how string, err error) {
	answer, err := d.runtime.Do(ctx, bridge.Args{Action: "steer", TaskID: d.task, Instruction: text})
	if err != nil {
		return "", err
	}
	task, _ := answer.(bridge.TaskAnswer)
	result, _ := task.Result.(map[string]any)
	switch turn, _ := result["turn"].(string); turn {
	case "steered":
		how = "codex has it in the turn that runs"
	case "queued":
		how = "it has a turn of its own, which comes later"
	case "started":
		how = "it has a turn of its own"
	}
	return how, nil
}

// answer gives the answer to a question.
func (d deed) answer(ctx context.Context, q bridge.Question, r reply) error {
	if r.words != "" {
		_, err := d.runtime.Say(ctx, d.task, q.RequestID, r.words)
		return err
	}
	args := bridge.Args{Action: "respond", TaskID: d.task, Instruction: q.RequestID, Decision: r.decision}
	if r.decision == "" {
		args.Answers = map[string]any{}
	}
	_, err := d.runtime.Do(ctx, args)
	return err
}

// reason says why something was not done, as far as that is known.
func reason(err error) string {
	if _, lost := errors.AsType[*bridge.UnreachableError](err); lost {
		return "no answer came, so it may have arrived or not: look before you send it again (" + err.Error() + ")"
	}
	return err.Error()
}

// ending is the last line, of how a task has ended.
func ending(t *bridge.Task) string {
	if t.Error != nil {
		return t.TaskID + " " + t.Status + ": " + *t.Error
	}
	return t.TaskID + " " + t.Status
}

// cancel ends the task, with the commands that it runs.
func (d deed) cancel(ctx context.Context) error {
	_, err := d.runtime.Do(ctx, bridge.Args{Action: "interrupt", TaskID: d.task})
	return err
}
