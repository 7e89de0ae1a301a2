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

	// Elsewhere returns the jobs whose messages another process has answered since they were
	// accepted: they are not taken up. Nil means none.
	Elsewhere func(ctx context.Context) (jobs []string, err error)

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
