package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextemp"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/giveback"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/retention"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/tracing"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// stopGrace is what running turns get to be interrupted when the program is
// told to stop; streams then get the rest of the server's own grace.
const stopGrace = 6 * time.Second

// serve runs the A2A server until ctx ends, and returns when all of it is
// gone: no listener, no turn, no child.
func serve(ctx context.Context, s settings.Settings, environ []string, log *slog.Logger, redact *logging.Redactor) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listen on RUNTIME_ADDR: %w (is another runtime there? set RUNTIME_ADDR to a free address)", err)
	}
	s.Addr = ln.Addr().String() // with the port that a 0 stands for
	app, err := newApplication(ctx, s, environ, log, redact)
	if err != nil {
		_ = ln.Close()
		return err
	}
	log.Info("listening", "addr", ln.Addr().String(), "version", version,
		"codex_pin", appserver.PinnedVersion(), "sandbox", s.Sandbox, "sandbox_note", s.SandboxNote, "codex_user", userNote(s.User), "approval_policy", s.ApprovalPolicy)
	warnOpen(log, s)
	return app.run(ctx, ln)
}

// warnOpen says what a listener on loopback without a token rests on.
func warnOpen(log *slog.Logger, s settings.Settings) {
	if !anyHost(s) {
		log.Warn("RUNTIME_TOKEN is not set: what forwards to this port, such as a reverse proxy or a tunnel, opens it to those who reach that")
	}
}

// An application is the program's parts, wired. It owns them: run ends them.
type application struct {
	setup    *adapter.Setup
	platform *platform.Client // nil standing alone, and until somebody needs it
	speaks   *platform.Speaker
	executor *executor.Executor
	engine   *tasks.Engine
	notifier *notify.Deliverer
	tools    *workspaceTools // nil standing alone
	files    *files.Folder
	loans    *files.Loans
	kept     *keptFiles // nil if no copies are handed out
	temp     *codextemp.Temp
	server   *server.Server
	checks   *readiness.Checks
	wedge    *readiness.Wedge
	ready    *readiness.Readiness
	tokens   regular.Keeper // the files of the workspace's token and the platform's secret
	redact   *logging.Redactor
	log      *slog.Logger
	member   *member          // nil standing alone
	observe  tracing.Observe  // of calls of platforms
	traces   *tracing.Tracing // nil if none are made
	handler  tracing.Handler  // the engine, traced

	background []func(context.Context) error // what goes on while the program serves
	closers    []io.Closer                   // in the order of their opening
}

// started is what there is to do once, when the program serves.
func (app *application) started(ctx context.Context) {
	app.checks.Announce(ctx, app.log)
	if err := giveback.Settle(); err != nil {
		app.log.Debug("the memory of the start is kept", "err", err)
	}
}

// goOn has something go on while the program serves. It returns when its context ends.
func (app *application) goOn(run func(context.Context)) {
	app.background = append(app.background, func(ctx context.Context) error { run(ctx); return nil })
}

func newApplication(ctx context.Context, s settings.Settings, environ []string, log *slog.Logger, redact *logging.Redactor) (_ *application, err error) {
	app := &application{redact: redact, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, app.stop(ctx))
			app.close()
		}
	}()
	base, err := app.openBase(s, environ)
	if err != nil {
		return nil, err
	}
	journal, err := store.Open(ctx, store.Config{Dir: s.StateDir, Also: []string{s.CodexHome}, Timed: base.commits, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_STATE_DIR: %w", err)
	}
	app.closers = append(app.closers, journal)
	base.registry.MustRegister(newStateMetrics(journal))
	cfg := executorConfig(s, base, log, redact)
	cfg.Book = tasks.Book(journal)
	cfg.Prepare = func(ctx context.Context) (executor.Launch, error) { return app.prepare(ctx, s) }
	cfg.Mend = func() { app.mend(s) }
	if err := app.offerTools(s, environ, &cfg, redact); err != nil {
		return nil, err
	}
	app.join(s, configured(app.setup), redact)
	cfg.Instructions = app.instructions()
	cfg.Trace, cfg.Tools = app.traces.Attempts(), app.traces.Tools(cfg.Tools)
	app.executor = executor.New(cfg)
	app.checks = readiness.NewChecks(readiness.ChecksConfig{
		Checks: checks(s, environ, base.fence, scratch{tmp: app.temp.Dirs().Commands}), State: readiness.StateOf(journal), Mend: cfg.Mend,
	})
	app.engine, err = tasks.New(tasks.Config{
		Runner: app.counted(app.traces.Runner(app.runner())), Journal: journal, Push: app.push(s, journal), MidTurn: s.MidTurn == "steer" && !s.InWorkspace(),
		Conversations: conversations{journal, app.executor}, Notify: app.notify(s, journal), Bounds: bounds(s),
		Main: mainContext(s), Workspace: app.workspace(s, journal, redact), Files: app.attachments(s, journal), OfferFiles: s.HandsOutFiles(),
		Metrics: base.metrics, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	app.handler = app.traces.Handler(app.engine)
	app.goOn(retention.New(retention.Config{
		Home: s.CodexHome, User: s.User, Most: int64(s.ConversationsMiB) << 20, Store: journal, Threads: app.executor,
		Files: messageFiles{app.files, app.kept}, IsPeers: app.engine.OfPeer, Logger: log,
	}).Run)
	app.goOn(func(ctx context.Context) {
		giveback.Run(ctx, (&giveback.Watch{Held: func() int64 { return app.executor.Health().Bytes }, Heap: giveback.Heap}).Due)
	})
	app.goOn(func(ctx context.Context) { codexlog.Keep(ctx, s.CodexHome, s.User, journal.Threads, log) })
	app.wedge = &readiness.Wedge{Turns: app.executor, Checks: app.checks, Problem: configured(app.setup).problem}
	known := readiness.Config{Checks: app.checks, Turns: app.executor, Redact: redact}
	if app.member != nil { // the platform hears soon when that changes
		known.Registered = app.member.presence.Ready
		app.checks.OnMade(app.member.presence.Changed)
	}
	app.ready = readiness.New(known)
	base.registry.MustRegister(readiness.NewGauges(app.ready))
	app.goOn(app.started)
	page, err := app.console(s, environ, journal, base.refusals)
	if err != nil {
		return nil, err
	}
	web := serverConfig(s, app, base, log)
	web.Console = page.Handler
	if app.server, err = server.New(web); err != nil {
		return nil, err
	}
	return app, app.engine.Recover(ctx) // the last: it sets turns going
}

// run serves until ctx ends. Turns are interrupted while the server drains, so
// that every open stream gets its last event.
func (app *application) run(ctx context.Context, ln net.Listener) error {
	defer app.close()
	app.executor.Warm()
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range app.background {
		group.Go(func() error { return run(ctx) })
	}
	group.Go(func() error {
		if err := app.server.Serve(ctx, ln); err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return app.stop(ctx)
	})
	return group.Wait()
}

// push makes what sends push notifications, unless they are switched off.
func (app *application) push(s settings.Settings, outbox push.Outbox) *tasks.Push {
	if !s.Push {
		return nil
	}
	sender := func(conversation string) push.Sender { return tasks.PushSender(s.InWorkspace(), conversation) }
	pusher := push.New(push.Config{Outbox: outbox, Guard: netguard.New(s.AllowedNetworks...), Sender: sender, Logger: app.log})
	app.goOn(pusher.Run)
	return &tasks.Push{Check: pusher.Check, TaskV0: wire.TaskV0, Show: guard.ShowPushed(s.PublicURL), Wake: pusher.Wake, Full: pusher.Full, Reserve: pusher.Reserve}
}

// stop ends the turns, and then the tasks that they belong to.
func (app *application) stop(ctx context.Context) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	var err error
	if app.executor != nil {
		err = app.executor.Close(grace)
	}
	if app.engine != nil {
		err = errors.Join(err, app.engine.Close(grace))
	}
	return err
}

func (app *application) close() {
	if app.ready != nil {
		_ = app.ready.Close()
	}
	if app.checks != nil {
		_ = app.checks.Close()
	}
	for _, c := range app.closers {
		if err := c.Close(); err != nil {
			app.log.Error("closing failed", "err", err)
		}
	}
}

// openModel starts the built-in model, if that is to answer, and says where it listens.
func (app *application) openModel(s settings.Settings) (url string, err error) {
	if !s.Scripted() {
		return "", nil
	}
	model, err := fakemodel.Listen(fakemodel.BuiltIn)
	if err != nil {
		return "", fmt.Errorf("the built-in scripted model: %w", err)
	}
	app.closers = append(app.closers, modelCloser{model})
	return model.BaseURL(), nil
}

type modelCloser struct{ model *fakemodel.Running }

func (m modelCloser) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return m.model.Close(ctx)
}
