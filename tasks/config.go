package tasks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
)

// A Runner makes turns of jobs; an [executor.Executor] is one. If its turns can
// ask it is an [Answerer], too, if they take messages a [Steerer], if it can be held a
// [Holder], and if it knows beforehand what it refuses [Bounded].
type Runner interface {
	// Submit queues a job and returns how many of its context are ahead of it.
	// Its observer is called as [executor.Observer] says, perhaps before Submit
	// has returned.
	Submit(job executor.Job, observe executor.Observer) (ahead int, err error)
	// Cancel ends a job and returns once its Ended event was delivered. A job that
	// has ended or was never there is no error.
	Cancel(ctx context.Context, jobID string) error
}

// Bounded is a [Runner] that says why it would not take a job now; nil if it would. It
// must not block.
type Bounded interface {
	Refuses(job executor.Job) error
}

// An executor is all that a runner can be.
var (
	_ Runner   = (*executor.Executor)(nil)
	_ Answerer = (*executor.Executor)(nil)
	_ Steerer  = (*executor.Executor)(nil)
	_ Holder   = (*executor.Executor)(nil)
	_ Bounded  = (*executor.Executor)(nil)
)

// Metrics is told what turns do. Implementations must not block.
type Metrics interface {
	TurnStarted(waited time.Duration)
	FirstText(after time.Duration)
	TurnEnded(outcome string, took time.Duration)
	Tokens(in, cached, out, reasoning int64)
	// ToolEnded tells of a tool: command, file_change, mcp, workspace, web_search, other.
	ToolEnded(kind string, took time.Duration)
	// PushesDropped tells of push notifications that are not made because too many wait.
	PushesDropped(n int)
}

// Config describes an engine. Runner and Journal must be set; the zero value of
// everything else works.
type Config struct {
	Runner   Runner
	Watchers executor.Watchers // hear of the jobs that the runner is given
	Journal  Journal           // what is kept; only this engine uses it

	// Threads names the conversation that a message belongs to, by the contextId
	// it was sent with, which may be empty, and that of its task. Messages of one
	// conversation share a codex thread and wait for one another. Nil means one
	// conversation for each contextId.
	Threads func(given, contextID string) string

	// Main is the contextId of the conversation that messages without one belong to;
	// empty gives each of them a conversation of its own.
	Main string

	// MidTurn has a message that names no task become part of the one whose turn is
	// running in its conversation, instead of waiting for a turn of its own.
	MidTurn bool

	// Conversations knows the threads that the runner uses; nil if there are none.
	Conversations Conversations

	Workspace *Workspace // that the engine works for; nil standing alone

	Files attach.Files // has the files of messages; nil puts them into the prompt
	// OfferFiles hands out the files that replies name.
	OfferFiles bool

	Push *Push // makes push notifications; nil refuses to

	Bounds overrides.Bounds // what messages may ask for; the zero value lets them choose the model
	Notify *Notify          // tells of ends; nil refuses to

	MostText int           // of the texts of one task that has not ended, in bytes; 0 means 16 MiB
	Coalesce time.Duration // text is published at most this often; 0 means 20 ms

	Metrics Metrics      // nil counts nothing
	Logger  *slog.Logger // nil discards
}

type noMetrics struct{}

func (noMetrics) TurnStarted(time.Duration)         {}
func (noMetrics) FirstText(time.Duration)           {}
func (noMetrics) TurnEnded(string, time.Duration)   {}
func (noMetrics) Tokens(int64, int64, int64, int64) {}
func (noMetrics) ToolEnded(string, time.Duration)   {}
func (noMetrics) PushesDropped(int)                 {}

func (c Config) withDefaults() (Config, error) {
	if c.Runner == nil {
		return c, errors.New("tasks: Runner must be set")
	}
	if c.Journal == nil {
		return c, errors.New("tasks: Journal must be set")
	}
	if c.Threads == nil {
		c.Threads = func(_, contextID string) string { return contextID }
	}
	if c.Conversations == nil {
		c.Conversations = noConversations{}
	}
	c.MostText = cmp.Or(c.MostText, mostText)
	c.Coalesce = cmp.Or(c.Coalesce, 20*time.Millisecond)
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
