// Package serve is the runtime that serves A2A over HTTP, standing alone or as the workspace of a platform.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/console/sources"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/doctor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/giveback"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// Run runs the A2A server until ctx ends.
func Run(ctx context.Context, o host.Options) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Settings.Addr)
	if err != nil {
		return unheard(err)
	}
	o.Settings.Addr = ln.Addr().String() // with the port that a 0 stands for
	return host.Live(ctx, o.Logger, func(ctx context.Context, life *host.Life) (host.Runtime, error) {
		life.Opened(listener{ln})
		return build(ctx, life, o, ln)
	})
}

// unheard says why nothing can be listened on, and what to do.
func unheard(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("RUNTIME_ADDR: another program listens there, maybe another runtime: end it, or set RUNTIME_ADDR to another port, such as 127.0.0.1:8100 (%w)", err)
	}
	return fmt.Errorf("RUNTIME_ADDR: this address cannot be listened on: set it to one of this machine's, and a port above 1023 (%w)", err)
}

// A listener may have been closed by the server that listens on it.
type listener struct{ net.Listener }

// Close closes it.
func (l listener) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// A runtime is what has been built.
type runtime struct {
	*host.Turns
	*host.Tasks
	listener net.Listener
	server   *server.Server
}

// build makes the parts, those first that others stand on.
func build(ctx context.Context, life *host.Life, o host.Options, ln net.Listener) (*runtime, error) {
	s, watch := o.Settings, host.OpenWatch(life, o)
	l := openLink(life, watch)
	ground, err := host.OpenGround(ctx, life, watch, "serve", l.logins())
	if state, ok := errors.AsType[*host.StateError](err); ok {
		return nil, fmt.Errorf("RUNTIME_STATE_DIR: %w", state)
	}
	if err != nil {
		return nil, err
	}
	how := ground.Turns()
	d, err := openDesk(life, ground, l)
	if err != nil {
		return nil, err
	}
	d.open(&how.Codex)
	turns := host.OpenTurns(life, ground, how)
	m := join(life, turns, d)
	ready := turns.Readiness(life, m.registered())
	f := openFolder(life, ground, l)
	n := openNotifier(life, ground, l)
	all, err := host.OpenTasks(life, turns, tasks.Config{
		Watchers: m.watchers(), Push: openPush(life, ground), MidTurn: s.MidTurn == "steer" && !s.InWorkspace(),
		Notify: &tasks.Notify{Check: n.Check, Wake: n.Wake}, Main: mainContext(s), Workspace: openChat(life, ground, l),
		Files: f.files, OfferFiles: s.HandsOutFiles(),
	})
	if err != nil {
		return nil, err
	}
	host.KeepHouse(life, turns, all.Engine, f.files)
	held := func() int64 { return turns.Executor.Health().Bytes }
	life.GoesOn(func(ctx context.Context) { giveback.Run(ctx, (&giveback.Watch{Held: held, Heap: giveback.Heap}).Due) })
	m.begin(life, all)
	page, err := openConsole(life, turns, all, ready, m)
	if err != nil {
		return nil, err
	}
	web := webConfig(m, all, ready, f, n)
	web.Console = page.Handler
	r := &runtime{Turns: turns, Tasks: all, listener: ln}
	r.server, err = server.New(web)
	return r, err
}

// Recover implements [host.Runtime].
func (r *runtime) Recover(ctx context.Context) error { return r.Engine.Recover(ctx) }

// Serve implements [host.Runtime].
func (r *runtime) Serve(ctx context.Context) error {
	s := r.Settings
	r.Logger.Info("listening", "addr", s.Addr, "version", r.Version,
		"sandbox", s.Sandbox, "sandbox_note", s.SandboxNote, "codex_user", launch.UserNote(s.User), "approval_policy", s.ApprovalPolicy)
	welcome(r.Logger, s)
	if err := r.server.Serve(ctx, r.listener); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// welcome says where a person looks at a listener on loopback without a token, and what that
// rests on.
func welcome(log *slog.Logger, s settings.Settings) {
	if !host.AnyHost(s) {
		log.Info("open the console in a browser", "url", "http://"+s.Addr+"/console")
		log.Warn("RUNTIME_TOKEN is not set: what forwards to this port, such as a reverse proxy or a tunnel, opens it to those who reach that")
	}
}

// openConsole makes the page for people.
func openConsole(life *host.Life, t *host.Turns, all *host.Tasks, ready *readiness.Readiness, m *member) (*console.Console, error) {
	show := sources.Config{
		Settings: t.Settings, Version: t.Version, Executor: t.Executor, Account: t.Driver, Journal: t.Journal, Ready: ready, Setup: t.Codex.Setup,
		Presence: m.presence, Redact: t.Redact.String, Logger: t.Logger,
	}
	var machines http.Handler
	if t.Fleet != nil {
		show.Machines, machines = t.Fleet, t.MachinesAPI()
	}
	look := sources.New(show)
	life.GoesOn(look.Run)
	return console.New(console.Config{
		Machines: machines,
		State:    look.State, Tasks: sources.Tasks{Engine: all.Engine},
		Doctor: func(ctx context.Context) []console.Check {
			report := doctor.Serve().Examine(ctx, doctor.Case{Settings: t.Settings, Environ: t.Environ, Version: t.Version})
			return sources.Checks(report, t.Redact.String)
		},
		Token: t.Settings.Token.Reveal(), Refusals: t.Refusals, Version: t.Version, Workspace: t.Settings.InWorkspace(), Logger: t.Logger,
	})
}
