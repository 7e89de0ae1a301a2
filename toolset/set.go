package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Config describes a set of tools. Platform and Workspace must be set.
type Config struct {
	Platform  Platform
	Workspace string // our own id

	// Files opens what is attached to messages; the zero value refuses all files.
	Files Files
	// Identity is what get_runtime_identity tells, by the names of the variables.
	Identity map[string]string

	// Card is the agent card that stands now; nil has the platform asked for it.
	Card func() any

	// May reports whether the roles of the workspace grant an action; nil grants all.
	May func(action string) bool

	Delegation time.Duration // how long delegate_task waits for a peer; 0 means 5 minutes
	ViaInbox   bool          // delegate_task goes by the platform's delegations, never by a direct message

	// Turns are taken by the requests that calls make; nil gives this set [Turns] of its own.
	Turns *rate.Limiter

	// Inbox is where the messages of the workspace wait; nil says that each comes as a turn of its own.
	Inbox Inbox

	Redact func(string) string  // of what is kept or shown elsewhere; nil leaves it
	Log    func(platform.Event) // takes rows for the log of activity, and must not block; nil takes none
	Logger *slog.Logger         // nil discards
}

// A Set is the tools. Its methods may be called concurrently.
type Set struct {
	awaited awaited
	paces   paces

	cfg   Config
	tools []tool
	named map[string]tool
	given given
}

// New returns the tools of a workspace.
func New(cfg Config) *Set {
	cfg.Delegation = cmp.Or(cfg.Delegation, 5*time.Minute)
	if cfg.May == nil {
		cfg.May = func(string) bool { return true }
	}
	if cfg.Redact == nil {
		cfg.Redact = func(s string) string { return s }
	}
	if cfg.Log == nil {
		cfg.Log = func(platform.Event) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Turns == nil {
		cfg.Turns = Turns()
	}
	s := &Set{cfg: cfg, named: map[string]tool{}}
	s.tools = s.define()
	for _, t := range s.tools {
		s.named[t.name] = t
	}
	return s
}

// A Call is a call of a tool.
type Call struct {
	Tool      string
	Arguments json.RawMessage // may be empty
	Thread    string          // of codex, that calls; "" if it is not known
	Turn      string
}

// A Result is what the model reads.
type Result struct {
	Text   string
	Failed bool
}

// mostText is how many bytes of a result a model gets.
const mostText = 100_000

// Call carries a call out. It returns soon after ctx ends.
func (s *Set) Call(ctx context.Context, c Call) Result {
	t, known := s.named[c.Tool]
	if !known {
		return Result{Text: explain(fmt.Errorf("there is no tool %q here", c.Tool)), Failed: true}
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	text, err := s.carryOut(limited, t, c)
	if err == nil {
		return Result{Text: clip(text, mostText)}
	}
	level := slog.LevelWarn
	if errors.Is(ctx.Err(), context.Canceled) { // its caller does not want it any more
		level = slog.LevelDebug
	}
	s.cfg.Logger.Log(ctx, level, "a workspace tool has failed", "tool", c.Tool, "thread_id", c.Thread, "turn_id", c.Turn,
		"took", time.Since(began), "err", s.cfg.Redact(forLog(err)))
	if ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("%s did not get done within %s; whether the platform has done it is not known", c.Tool, t.limit)
	}
	return Result{Text: clip(s.cfg.Redact(explain(err)), mostText), Failed: true}
}

func (s *Set) carryOut(ctx context.Context, t tool, c Call) (string, error) {
	if len(c.Arguments) > mostArguments {
		return "", fmt.Errorf("the arguments have %d bytes, and %d may be", len(c.Arguments), mostArguments)
	}
	end, err := s.paces.begin(ctx, c.Thread)
	if err != nil {
		return "", err
	}
	defer end()
	return t.handle(platform.InTurn(ctx, s.cfg.Turns), c.Arguments)
}

// forLog is an error without what a peer has said in it.
func forLog(err error) string {
	if _, ok := errors.AsType[whole](err); ok {
		return "delegation failed"
	}
	return err.Error()
}
