package launch

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
)

// startWait is how long messages whose senders do not wait for an answer wait for a codex that cannot
// be started: longer than npm takes to replace it, or a slow disk to be mounted.
const startWait = 2 * time.Minute

// A Recorder has a record made of what is said to codex and by it, and of what the executor is asked.
type Recorder interface {
	codex.Wire
	executor.Recorder
}

// Metrics counts what happens to jobs, and to codex.
type Metrics interface {
	executor.Metrics
	codex.Metrics
}

// Turns is how turns are made: by whom, and how many at a time.
type Turns struct {
	Executor executor.Config
	Codex    codex.Config
}

// Turns is how turns are made by the settings. recorder is nil unless a record is to be made.
func (c *Codex) Turns(metrics Metrics, recorder Recorder) Turns {
	s := c.s
	t := Turns{Executor: executor.Config{
		MaxTurns: s.MaxTurns, MaxQuestions: s.MaxQuestions, MaxQueue: s.MaxQueue, MaxBytes: int64(s.MaxQueueMiB) << 20,
		TurnTimeout: s.TurnTimeout, IdleTimeout: s.IdleTimeout, ItemTimeout: s.ItemTimeout, StartWait: startWait, Metrics: metrics, Logger: c.log,
	}, Codex: codex.Config{
		Child: codex.Process{
			Bin: s.CodexBin, Dir: base(s, nil, "").Dir(), User: s.User, Through: c.Fence.Argv, OwnMounts: c.Fence.OwnMounts,
			ClientName: "molecule-codex-runtime", ClientVersion: c.cfg.Version,
		},
		Thread:  codex.Thread{Cwd: s.WorkDir, ApprovalPolicy: agent.ApprovalPolicy(s.ApprovalPolicy), Sandbox: agent.Sandbox(s.Sandbox)},
		Prepare: c.launch, Mend: c.Mend,
		MaxThreads: s.MaxThreads, MaxAsked: s.MaxContextQuestions,
		QuestionTTL:  s.QuestionTTL,
		Rules:        s.Rules == "callers",
		Open:         CommandsMayCall(s),
		RefreshEvery: refreshEvery(s),
		Apart:        slices.Concat(s.Apart(), s.Programs(), ownProgram(s)),
		Redact:       c.cfg.Redact.String, Hide: c.cfg.Redact.Known, Metrics: metrics, Logger: c.log,
	}}
	if c.key != nil { // the built-in model is asked without it
		t.Codex.Calls = c.key.calls
	}
	if recorder != nil {
		t.Codex.Child.Wire, t.Executor.Recorder = recorder, recorder
	}
	return t
}

// launch prepares a start of codex, as the driver takes it.
func (c *Codex) launch(ctx context.Context) (codex.Launch, error) {
	l, err := c.prepare(ctx)
	if problem, ok := errors.AsType[*adapter.Problem](err); ok {
		return codex.Launch{}, codex.Unready("this workspace is not configured: " + problem.Error())
	}
	if err != nil {
		return codex.Launch{}, err
	}
	return codex.Launch{
		Args: l.Args(), Env: l.Env(), Model: l.Model(), ModelProvider: l.Provider.ID(), KeyVariable: l.Provider.KeyVariable(),
		Loaded: l.Loaded(), Written: l.Written(), Temp: l.Temp.Roots(),
		Thread: func() map[string]any { return c.Setup.ThreadConfig(l) }, Oversized: l.Oversized, Unreadable: l.Unreadable,
		Fit: c.Fit.Verdict,
	}, nil
}

// CommandsMayCall reports whether codex's commands, if they have the network, are let in as callers of
// this machine: where those need to show nothing, for the console asks for nothing but RUNTIME_TOKEN,
// and where the platform's secret will do, too, which is kept from no command of our own user. A
// channel has no callers.
func CommandsMayCall(s settings.Settings) bool {
	return len(s.Spaces) == 0 && (!s.Token.Set() || s.InWorkspace() && s.User == nil)
}

// refreshEvery is how often codex's login is renewed, if that is ours to do.
func refreshEvery(s settings.Settings) time.Duration {
	if !s.OwnsLogin {
		return 0
	}
	return time.Hour
}

// Bounds is what messages may ask for: what the operator has set, or less.
func Bounds(s settings.Settings) overrides.Bounds {
	return overrides.Bounds{
		WorkDir: s.WorkDir, Sandbox: agent.Sandbox(s.Sandbox), ApprovalPolicy: agent.ApprovalPolicy(s.ApprovalPolicy),
		Exposed: s.Exposed,
	}
}

// ownProgram is where this program lies, which codex starts with each conversation for the tools of the
// workspace by MCP.
func ownProgram(s settings.Settings) []settings.Place {
	self, err := os.Executable()
	if err != nil || s.Tools != settings.ToolsMCP || !s.InWorkspace() {
		return nil
	}
	return []settings.Place{{Name: "runtime mcp", Path: self}}
}
