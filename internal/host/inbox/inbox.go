// Package inbox is the runtime that works off the inboxes of workspaces which cannot be reached.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/control"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/giveback"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/metrics"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// Options are those of a channel.
type Options struct {
	host.Options
	Once bool            // read each inbox once, answer what there is, and end
	Quit <-chan struct{} // closed when what runs is to come to its end, and nothing new to begin; nil if that is never wanted
}

// Run reads the inboxes and answers what comes until ctx ends, or Quit is closed and what runs has come to its end.
func Run(ctx context.Context, o Options) error {
	var health net.Listener
	if o.Settings.Addr != "" {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Settings.Addr)
		if err != nil {
			return fmt.Errorf("listen on RUNTIME_ADDR: %w (set it to a free address, or leave it out)", err)
		}
		health = ln
	}
	return host.Live(ctx, o.Logger, func(ctx context.Context, life *host.Life) (host.Runtime, error) {
		r, err := build(ctx, life, o)
		if err == nil {
			err = r.listen(life)
		}
		if health == nil {
			return r, err
		}
		if err != nil {
			return nil, errors.Join(err, health.Close())
		}
		return r, r.probe(life, health)
	})
}

// A runtime is what has been built.
type runtime struct {
	*host.Turns
	*host.Tasks
	options Options
	members members
	ready   *readiness.Readiness
	channel *channel.Channel
}

// instructions are what codex is told of where its messages come from.
const instructions = `You answer messages that come through the Molecule platform. Each conversation has one sender: the user of a workspace, or another agent. Your final message is sent to that sender as it is, and nothing else that you write.` + "\n\n" + peerwords.Instructions

// build makes the parts, those first that others stand on.
func build(ctx context.Context, life *host.Life, o Options) (*runtime, error) {
	s := o.Settings
	control.Relieve(ctx, s.StateDir) // an MCP host may keep the inbox until a channel does
	ground, err := host.OpenGround(ctx, life, host.OpenWatch(life, o.Options), "channel", nil)
	if err != nil {
		return nil, stateError(err)
	}
	all, err := openSpaces(life, ground)
	if err != nil {
		return nil, err
	}
	how := ground.Turns()
	all.offer(&how.Codex, ground)
	how.Codex.Instructions = func() string { return instructions }
	how.Executor.MaxMute = -1 // there is neither a console nor A2A by which others could answer
	turns := host.OpenTurns(life, ground, how)
	joined := join(life, turns, all)
	r := &runtime{Turns: turns, options: o, members: joined, ready: turns.Readiness(life, joined.registered)}
	running := newRunning()
	r.Tasks, err = host.OpenTasks(life, turns, tasks.Config{
		Watchers:  watchers(turns, all, joined, running),
		Workspace: &tasks.Workspace{Steer: s.MidTurn == "steer", Redact: o.Redact.String, Posts: true, Requests: all.boards(life, ground).Wake, Of: all.of},
		Files:     stagesOf(ground, all), OfferFiles: true, Elsewhere: func(ctx context.Context) ([]string, error) { return answeredByHost(ctx, ground.Journal, all.ids()) },
	})
	if err != nil {
		return nil, err
	}
	if hole := fence.SandboxHole(s); hole != "" {
		o.Logger.Warn("codex's sandbox does not hold root", "detail", hole, "fix", fence.SandboxHoleFix)
	}
	r.channel = channel.New(channel.Config{
		Store: ground.Journal, Engine: engine{r.Engine, r.Handler}, Workspaces: all.workspaces(ground), Interval: s.PollInterval,
		Metrics: metrics.NewInboxes(ground.Registry, all.ids()...), Logger: o.Logger,
	})
	life.Goes(func(ctx context.Context) error { return joined.present(ctx, r.channel.Leave) })
	life.GoesOn(func(ctx context.Context) { giveback.Run(ctx, running.idleAgain()) })
	host.KeepHouse(life, turns, r.Engine, all[0].files) // one folder stands for all
	return r, takeOver(ctx, ground, all.ids())
}

// answeredByHost are the jobs whose messages an MCP host has answered, or taken off, while it kept the inboxes.
func answeredByHost(ctx context.Context, journal *store.Store, workspaces []string) (jobs []string, err error) {
	for _, id := range workspaces {
		taken, err := journal.InboxTaken(ctx, id, desk.Prefix)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, taken...)
	}
	return jobs, nil
}

// stateError says of the state, if that is what cannot be used, whose it is, and what to do.
func stateError(err error) error {
	if _, ok := errors.AsType[*host.StateError](err); !ok {
		return err
	}
	if _, used := errors.AsType[*store.LockedError](err); used {
		return fmt.Errorf("the channel's state: %w: RUNTIME_STATE_DIR, or have one process read both inboxes, by MOLECULE_WORKSPACES", err)
	}
	return fmt.Errorf("the channel's state: %w", err)
}

// listen opens the socket for other commands.
func (r *runtime) listen(life *host.Life) error {
	socket, err := control.Listen(r.Settings.StateDir, r.channel, r.Logger)
	if err != nil {
		return err
	}
	life.Opened(socket)
	return nil
}

// probe opens the listener for probes, and for people who look at the machines.
func (r *runtime) probe(life *host.Life, health net.Listener) error {
	s := r.Settings
	probes, err := server.Probes(server.Config{
		PublicURL: s.PublicURL, Token: s.Token.Reveal(), AnyHost: host.AnyHost(s), Refusals: r.Refusals,
		Ready: r.ready.Get, Machines: r.MachinesAPI(), Registry: r.Registry, Metrics: r.Metrics, Logger: r.Logger,
	})
	if err != nil {
		return errors.Join(err, health.Close())
	}
	life.Opened(control.Serve(health, probes, r.Logger))
	r.Logger.Info("listening", "addr", health.Addr().String(), "version", r.Version, "codex_user", launch.UserNote(s.User))
	return nil
}

// Recover implements [host.Runtime].
func (r *runtime) Recover(ctx context.Context) error { return r.Engine.Recover(ctx) }

// Serve implements [host.Runtime]: it is the channel itself.
func (r *runtime) Serve(ctx context.Context) error {
	s := r.Settings
	for _, m := range r.members {
		r.Logger.Info("the inbox of a workspace is read", "workspace", m.id, "platform", m.url, "every", s.PollInterval.String(),
			"sandbox", s.Sandbox, "approval_policy", s.ApprovalPolicy, "version", r.Version)
	}
	if r.options.Once {
		return r.channel.Once(ctx, r.options.Quit)
	}
	return r.channel.Run(ctx, r.options.Quit, func(ctx context.Context) error { _ = r.Executor.Drain(ctx); return nil })
}
