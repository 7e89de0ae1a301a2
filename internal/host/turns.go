package host

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/doctor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/giveback"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/retention"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/tracing"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
)

// Turns are what makes turns of jobs, and the checks that say whether one would run.
type Turns struct {
	*Ground
	Executor *executor.Executor
	Driver   *codex.Driver
	Checks   *readiness.Checks
}

// OpenTurns has turns be made in a way that [Ground.Turns] has begun.
func OpenTurns(life *Life, g *Ground, by launch.Turns) *Turns {
	by.Codex.Tools = g.Traces.Tools(by.Codex.Tools)
	t := &Turns{Ground: g, Driver: codex.New(by.Codex)}
	t.Executor = executor.New(by.Executor, t.Driver)
	life.Drains(t.Executor.Close)
	g.turns.Set(t)
	t.Checks = readiness.NewChecks(readiness.ChecksConfig{
		Checks: doctor.Turn(g.Settings, g.Environ, g.Codex.Fence, g.Codex.Temp.Dirs().Commands, g.Codex.Fit),
		State:  readiness.StateOf(g.Journal), Mend: g.Codex.Mend,
	})
	life.Opened(t.Checks)
	life.GoesOn(func(ctx context.Context) { g.Codex.Run(ctx, t.Driver.RestartWhenIdle) })
	life.GoesOn(func(ctx context.Context) {
		codexlog.Keep(ctx, g.Settings.CodexHome, g.Settings.User, g.Journal.Threads, g.Logger)
	})
	life.GoesOn(t.started)
	return t
}

// started is what there is to do once, when the runtime serves.
func (t *Turns) started(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	t.Driver.Warm()
	t.Checks.Announce(ctx, t.Logger)
	if err := giveback.Settle(); err != nil {
		t.Logger.Debug("the memory of the start is kept", "err", err)
	}
}

// Readiness is whether a turn would run; registered says whether the platform can send messages, and is nil without one.
func (t *Turns) Readiness(life *Life, registered func() (bool, string)) *readiness.Readiness {
	ready := readiness.New(readiness.Config{Checks: t.Checks, Turns: t.Executor, Redact: t.Redact, Registered: registered, Machines: t.machines()})
	life.Opened(ready)
	t.Registry.MustRegister(readiness.NewGauges(ready))
	return ready
}

// Tasks are what turns are made for.
type Tasks struct {
	Engine  *tasks.Engine
	Handler tracing.Handler // the engine, traced: by it messages come in
}

// OpenTasks makes an engine of a configuration that says what differs between the kinds of runtime.
func OpenTasks(life *Life, t *Turns, cfg tasks.Config) (*Tasks, error) {
	cfg.Runner, cfg.Watchers = t.Executor, append(cfg.Watchers, t.Codex)
	cfg.Journal, cfg.Conversations, cfg.Bounds = t.Journal, conversations{t.Journal, t.Driver}, t.bounds()
	cfg.Metrics, cfg.Logger = t.Metrics, t.Logger
	engine, err := tasks.New(cfg)
	if err != nil {
		return nil, err
	}
	life.Drains(engine.Close)
	t.Heard.engine.Set(engine)
	return &Tasks{Engine: engine, Handler: t.Traces.Handler(engine)}, nil
}

// bounds are what messages may ask for.
func (t *Turns) bounds() overrides.Bounds {
	b := launch.Bounds(t.Settings)
	if t.Fleet != nil {
		b.Labels = t.Fleet.Labels
	}
	return b
}

// KeepHouse has what is old or too much forgotten; files are those of the messages.
func KeepHouse(life *Life, t *Turns, engine *tasks.Engine, files retention.Sweeper) {
	s := t.Settings
	var forgotten func(context.Context, string)
	if t.Fleet != nil {
		forgotten = t.Fleet.Forget
	}
	life.GoesOn(retention.New(retention.Config{
		Forgotten: forgotten,
		Home:      s.CodexHome, User: s.User, Most: int64(s.ConversationsMiB) << 20, Store: t.Journal, Threads: t.Driver,
		Files: files, IsPeers: engine.OfPeer, Logger: t.Logger,
	}).Run)
}
