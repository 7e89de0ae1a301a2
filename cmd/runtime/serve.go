package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
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
		"codex", appserver.PinnedVersion(), "sandbox", s.Sandbox, "sandbox_note", s.SandboxNote, "approval_policy", s.ApprovalPolicy)
	return app.run(ctx, ln)
}

// An application is the program's parts, wired. It owns them: run ends them.
type application struct {
	setup    *adapter.Setup
	platform *platform.Client // nil standing alone, and until somebody needs it
	logins   *adapter.Logins  // nil outside a workspace
	home     string           // of codex
	store    *store.Store
	executor *executor.Executor
	engine   *tasks.Engine
	notifier *notify.Deliverer
	tools    *workspaceTools // nil standing alone
	pusher   *push.Deliverer // nil without push notifications
	late     *late.Deliverer // nil standing alone
	files    *files.Folder
	server   *server.Server
	ready    *readiness
	redact   *logging.Redactor
	log      *slog.Logger
	member   *member     // nil standing alone
	closers  []io.Closer // in the order of their opening
}

func newApplication(ctx context.Context, s settings.Settings, environ []string, log *slog.Logger, redact *logging.Redactor) (_ *application, err error) {
	app := &application{home: s.CodexHome, redact: redact, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, app.stop(ctx))
			app.close()
		}
	}()
	if err := makeFolders(s); err != nil {
		return nil, err
	}
	if s.Sandbox == "danger-full-access" { // otherwise the sandbox keeps codex's commands from looking
		if err := keepPrivate(); err != nil {
			log.Warn("the environment of this process can be read by codex's commands", "err", err)
		}
	}
	scriptedURL, err := app.openModel(s)
	if err != nil {
		return nil, err
	}
	if err := app.openSetup(s, environ, scriptedURL, redact); err != nil {
		return nil, err
	}
	wire, err := app.openWire(s.DebugWire)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := server.NewMetrics(registry)
	journal, err := store.Open(ctx, store.Config{Dir: s.StateDir, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_STATE_DIR: %w", err)
	}
	app.store, app.closers = journal, append(app.closers, journal)
	registry.MustRegister(newStateMetrics(journal))
	cfg := executorConfig(s, wire, metrics, log, redact)
	cfg.Book, cfg.Prepare = tasks.Book(journal), app.prepare
	if err := app.offerTools(s, environ, &cfg, redact); err != nil {
		return nil, err
	}
	app.join(s, configured(app.setup), registry, redact)
	cfg.Instructions = app.instructions()
	app.executor = executor.New(cfg)
	app.engine, err = tasks.New(tasks.Config{
		Runner: app.counted(app.runner()), Journal: journal, Push: app.push(s, journal), MidTurn: s.MidTurn == "steer" && !s.InWorkspace(),
		Conversations: conversations{journal, app.executor}, Notify: app.notify(s, journal), Bounds: bounds(s),
		Main: mainContext(s), Workspace: app.workspace(s, journal, redact), Files: app.attachments(s), OfferFiles: s.InWorkspace(),
		Metrics: metrics, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	app.ready = &readiness{checks: checks(s, environ), executor: app.executor, redact: redact}
	app.tellOf(app.ready)
	if app.server, err = server.New(serverConfig(s, app, registry, metrics, log)); err != nil {
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
	group.Go(func() error {
		app.ready.announce(ctx, app.log)
		return nil
	})
	group.Go(func() error {
		tidy(ctx, app.store, app.executor, app.files, app.home, app.log)
		return nil
	})
	group.Go(func() error {
		app.notifier.Run(ctx)
		return nil
	})
	app.runTools(ctx, group)
	app.runMember(ctx, group)
	app.runWorkspace(ctx, group)
	if app.logins != nil {
		group.Go(func() error {
			app.logins.Run(ctx)
			return nil
		})
	}
	if app.pusher != nil {
		group.Go(func() error {
			app.pusher.Run(ctx)
			return nil
		})
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
	app.pusher = push.New(push.Config{Outbox: outbox, Guard: netguard.New(s.AllowedNetworks...), Logger: app.log})
	return &tasks.Push{Check: app.pusher.Check, TaskV0: server.TaskV0, Wake: app.pusher.Wake}
}

// stop ends the turns, and then the tasks that they belong to.
func (app *application) stop(ctx context.Context) error {
	if app.executor == nil || app.engine == nil {
		return nil
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	return errors.Join(app.executor.Close(grace), app.engine.Close(grace))
}

func (app *application) close() {
	if app.ready != nil {
		app.ready.close()
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

// openWire opens the file that records what is said to and by codex.
func (app *application) openWire(path string) (io.Writer, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_DEBUG_WIRE: %w", err)
	}
	app.closers = append(app.closers, f)
	return f, nil
}

func executorConfig(
	s settings.Settings, wire io.Writer,
	metrics *server.Metrics, log *slog.Logger, redact *logging.Redactor,
) executor.Config {
	return executor.Config{
		Child: appserver.Config{
			Bin: s.CodexBin, Dir: s.WorkDir, Wire: wire,
			ClientName: "molecule-codex-runtime", ClientVersion: version,
		},
		Thread: appserver.ThreadStartParams{
			Cwd: s.WorkDir, ApprovalsReviewer: "user",
			ApprovalPolicy: appserver.ApprovalPolicy(s.ApprovalPolicy),
			Sandbox:        appserver.SandboxMode(s.Sandbox),
		},
		MaxTurns: s.MaxTurns, MaxQueue: s.MaxQueue, MaxThreads: s.MaxThreads,
		TurnTimeout: s.TurnTimeout, IdleTimeout: s.IdleTimeout, ItemTimeout: s.ItemTimeout,
		QuestionTTL:  s.QuestionTTL,
		RefreshEvery: refreshEvery(s),
		Redact:       redact.String, Metrics: metrics, Logger: log,
	}
}

// refreshEvery is how often codex's login is renewed, if that is ours to do.
func refreshEvery(s settings.Settings) time.Duration {
	if !s.OwnsLogin {
		return 0
	}
	return time.Hour
}

// bounds is what messages may ask for: what the operator has set, or less.
func bounds(s settings.Settings) tasks.Bounds {
	return tasks.Bounds{
		WorkDir: s.WorkDir, Sandbox: appserver.SandboxMode(s.Sandbox), ApprovalPolicy: appserver.ApprovalPolicy(s.ApprovalPolicy),
	}
}

// cardIdentity is what the agent says of itself.
func cardIdentity(s settings.Settings) adapter.Identity {
	return adapter.Identity{
		Version: version, Sandbox: s.Sandbox, SandboxNote: s.SandboxNote, Scripted: s.Scripted(), Token: s.Token.Set(), Push: s.Push,
		Extensions: extensions(),
	}
}

func serverConfig(
	s settings.Settings, app *application, registry *prometheus.Registry, metrics *server.Metrics, log *slog.Logger,
) server.Config {
	card := func(baseURL string) *a2a.AgentCard { return adapter.Card(cardIdentity(s), baseURL) }
	return server.Config{
		Handler: app.engine,
		// The card has no secrets; who asks for the extended one by 0.3 gets the same.
		Card: card, ExtendedCard: card,
		PublicURL: s.PublicURL, PureCard: s.Card == "1.0",
		ReplyAsMessage: s.Reply == "message", Reply: tasks.Reply, Platform: app.platformSide(s),
		Token: s.Token.Reveal(), AnyHost: anyHost(s), Methods: app.methods(),
		Ready: app.ready.get, Registry: registry, Metrics: metrics, Logger: log,
	}
}

// anyHost reports whether requests are taken whatever name they call us by. The
// list of names is there against pages that make a browser call us under a name
// of theirs: with a token they lack what matters, and a listener beyond loopback
// is called by names that only its operator knows.
func anyHost(s settings.Settings) bool {
	host, _, err := net.SplitHostPort(s.Addr)
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	return s.InWorkspace() || s.Token.Set() || err == nil && !loopback
}
