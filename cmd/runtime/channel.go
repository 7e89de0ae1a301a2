package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/giveback"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/retention"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

type channelCommands struct {
	Run  channelRun  `cmd:"" default:"withargs" hidden:"" help:"Read them. This is what runtime channel alone does."`
	Dead channelDead `cmd:"" help:"List the replies that the platform has refused for good, or send one again."`
}

// Help implements [kong.HelpProvider].
func (channelCommands) Help() string {
	return "runtime channel reads them until it is interrupted: the first Ctrl-C lets the turns that run\n" +
		"come to their ends, the second interrupts them. runtime channel --once reads each inbox once,\n" +
		"answers what there is, and leaves. It needs WORKSPACE_ID, PLATFORM_URL and\n" +
		"MOLECULE_WORKSPACE_TOKEN, or MOLECULE_WORKSPACES; see docs/channel.md."
}

type channelRun struct {
	Once bool `help:"Read each inbox once, answer what there is, and leave."`
}

// channel runs one of the commands of a channel.
func (p *program) channel(ctx context.Context, command string, c *channelCommands) int {
	switch {
	case strings.HasPrefix(command, "dead retry"):
		return p.retryLetter(ctx, c.Dead.Retry.ID)
	case strings.HasPrefix(command, "dead"):
		return p.deadLetters(ctx, c.Dead.List.JSON)
	}
	return p.serveChannel(ctx, c.Run.Once)
}

// An inbox is a runtime that works off the inboxes of workspaces.
type inbox struct {
	*application
	s       settings.Settings
	spaces  []*space
	channel *channel.Channel
	turns   *turns
	store   *store.Store
}

// serveChannel works until ctx ends, or quit is closed and what runs has come to its end.
func (p *program) serveChannel(ctx context.Context, once bool) int {
	s, warnings, ok := p.loadChannel()
	if !ok {
		return exitUsage
	}
	return p.logged(s, warnings, func(log *slog.Logger, redact *logging.Redactor) error {
		return runChannel(ctx, s, p.environ, once, log, redact)
	})
}

func runChannel(ctx context.Context, s settings.Settings, environ []string, once bool, log *slog.Logger, redact *logging.Redactor) error {
	var health net.Listener
	if s.Addr != "" {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
		if err != nil {
			return fmt.Errorf("listen on RUNTIME_ADDR: %w (set it to a free address, or leave it out)", err)
		}
		health = ln
	}
	box, err := newInbox(ctx, s, environ, log, redact, health)
	if err != nil {
		if health != nil {
			_ = health.Close()
		}
		return err
	}
	return box.run(ctx, once)
}

func newInbox(ctx context.Context, s settings.Settings, environ []string, log *slog.Logger, redact *logging.Redactor, health net.Listener) (_ *inbox, err error) {
	box := &inbox{application: &application{redact: redact, log: log}, s: s, turns: newTurns()}
	defer func() {
		if err != nil {
			err = errors.Join(err, box.stop(ctx))
			box.close()
		}
	}()
	base, err := box.openBase(s, environ)
	if err != nil {
		return nil, err
	}
	journal, err := store.Open(ctx, store.Config{Dir: s.StateDir, Also: []string{s.CodexHome}, Timed: base.commits, Logger: log})
	if _, used := errors.AsType[*store.LockedError](err); used {
		return nil, fmt.Errorf("the channel's state: %w: RUNTIME_STATE_DIR, or have one process read both inboxes, by MOLECULE_WORKSPACES", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the channel's state: %w", err)
	}
	box.store, box.closers = journal, append(box.closers, journal)
	base.registry.MustRegister(newStateMetrics(journal))
	if err := box.work(s, environ, base, redact); err != nil {
		return nil, err
	}
	if err := box.takeOver(ctx); err != nil {
		return nil, err
	}
	if err := box.listen(health, base); err != nil {
		return nil, err
	}
	return box, box.engine.Recover(ctx) // the last: it sets turns going
}

// channelInstructions are what codex is told of where its messages come from.
const channelInstructions = `You answer messages that come through the Molecule platform. Each conversation has one sender: the user of a workspace, or another agent. Your final message is sent to that sender as it is, and nothing else that you write.` + "\n\n" + peerwords.Instructions

// work makes what has messages answered.
func (box *inbox) work(s settings.Settings, environ []string, base base, redact *logging.Redactor) error {
	cfg := executorConfig(s, base, box.log, redact)
	cfg.Book = tasks.Book(box.store)
	cfg.Prepare = func(ctx context.Context) (executor.Launch, error) { return box.prepare(ctx, s) }
	cfg.Mend = func() { box.mend(s) }
	box.openSpaces(s, &cfg, redact)
	cfg.Instructions = func() string { return channelInstructions }
	cfg.MaxMute = -1 // there is neither a console nor A2A by which others could answer
	cfg.Trace, cfg.Tools = box.traces.Attempts(), box.traces.Tools(cfg.Tools)
	box.executor = executor.New(cfg)
	engine, err := tasks.New(tasks.Config{
		Runner: box.traces.Runner(spaceRunner{box.executor, box}), Journal: box.store,
		Conversations: conversations{box.store, box.executor}, Bounds: bounds(s),
		Workspace: &tasks.Workspace{Steer: s.MidTurn == "steer", Redact: redact.String, Posts: true},
		Files:     box.messageFiles(), OfferFiles: true, Metrics: base.metrics, Logger: box.log,
	})
	if err != nil {
		return err
	}
	box.engine, box.handler = engine, box.traces.Handler(engine)
	box.checks = readiness.NewChecks(readiness.ChecksConfig{
		Checks: checks(s, environ, base.fence, scratch{tmp: box.temp.Dirs().Commands}), State: readiness.StateOf(box.store), Mend: cfg.Mend,
	})
	box.wedge = &readiness.Wedge{Turns: box.executor, Checks: box.checks}
	box.ready = readiness.New(readiness.Config{Checks: box.checks, Turns: box.executor, Redact: redact, Registered: box.registered})
	base.registry.MustRegister(readiness.NewGauges(box.ready))
	if hole := sandboxHole(s); hole != "" {
		box.log.Warn("codex's sandbox does not hold root", "detail", hole, "fix", sandboxHoleFix)
	}
	for _, m := range box.spaces {
		box.checks.OnMade(m.presence.Changed)
	}
	box.channel = channel.New(channel.Config{
		Store: box.store, Engine: inboxEngine{engine, box.handler}, Workspaces: box.workspaces(), Interval: s.PollInterval, Metrics: box.counts(base.registry), Logger: box.log,
	})
	return nil
}

// run works off the inboxes, and ends everything.
func (box *inbox) run(ctx context.Context, once bool) error {
	defer box.close()
	box.executor.Warm()
	aside, leave := context.WithCancel(ctx)
	group, aside := errgroup.WithContext(aside)
	box.runAside(aside, group)
	group.Go(func() error {
		defer leave()
		return box.answer(aside, quitOf(ctx), once)
	})
	group.Go(func() error {
		<-aside.Done()
		return box.stop(aside)
	})
	return group.Wait()
}

// answer is the channel itself.
func (box *inbox) answer(ctx context.Context, quit <-chan struct{}, once bool) error {
	for _, m := range box.spaces {
		box.log.Info("the inbox of a workspace is read", "workspace", m.id, "platform", m.url, "every", box.s.PollInterval.String(),
			"sandbox", box.s.Sandbox, "approval_policy", box.s.ApprovalPolicy, "version", version)
	}
	if once {
		return box.channel.Once(ctx, quit)
	}
	return box.channel.Run(ctx, quit, func(ctx context.Context) error { _ = box.executor.Drain(ctx); return nil })
}

// runAside runs what goes on beside.
func (box *inbox) runAside(ctx context.Context, group *errgroup.Group) {
	run := func(f func()) { group.Go(func() error { f(); return nil }) }
	run(func() { box.started(ctx) })
	run(func() { giveback.Run(ctx, box.turns.idleAgain()) })
	house := retention.New(retention.Config{
		Home: box.s.CodexHome, User: box.s.User, Most: int64(box.s.ConversationsMiB) << 20, Store: box.store, Threads: box.executor,
		Files: box.sweeper(), IsPeers: box.engine.OfPeer, Logger: box.log,
	})
	run(func() { house.Run(ctx) })
	run(func() { codexlog.Keep(ctx, box.s.CodexHome, box.s.User, box.store.Threads, box.log) })
	for _, m := range box.spaces {
		run(func() { m.recorder.Run(ctx) })
	}
	group.Go(func() error { return box.present(ctx) })
}

// present keeps the workspaces known to their platforms. When all of them have been
// deleted there is nothing left to do.
func (box *inbox) present(ctx context.Context) error {
	var deleted atomic.Int32
	var all sync.WaitGroup
	for _, m := range box.spaces {
		all.Go(func() {
			if errors.Is(m.presence.Run(ctx), presence.ErrDeleted) {
				deleted.Add(1)
				box.channel.Leave(m.id)
			}
		})
	}
	all.Wait()
	if int(deleted.Load()) == len(box.spaces) {
		return presence.ErrDeleted
	}
	return nil
}
