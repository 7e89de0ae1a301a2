// Package outside has an MCP host be a whole agent of workspaces: their inboxes are kept here, and the host fetches and
// answers what comes by tools. No codex is run.
package outside

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// Options are those of an agent outside.
type Options struct {
	host.Options // the settings are those of settings.LoadInbox

	// Aside says that another process answers the messages: the inbox is never kept here.
	Aside bool
	// Serves is the state directory of the runtime that the platform would push messages to; "" if there is none.
	Serves string
}

// An Agent is the MCP host, as the platform sees it. It implements [toolset.Inbox].
type Agent struct {
	options Options
	log     *slog.Logger
	spaces  spaces
	aside   atomic.Bool // another process answers the messages

	gone  context.Context // ends when the MCP host has closed its end
	leave context.CancelFunc

	mu      sync.Mutex // guards the fields below
	keeper  *keeper    // nil while the inbox is not kept here
	why     string     // then: why it is not
	changed chan struct{}
	host    string // what the MCP host calls itself
}

// retry is how often it is tried to take the inbox that another process keeps.
const retry = 2 * time.Second

// grace is how long a channel that has asked for the inbox has to take it.
const grace = 15 * time.Second

// New returns an agent that does nothing yet; its tools may be called.
func New(o Options) *Agent {
	a := &Agent{options: o, log: o.Logger, changed: make(chan struct{})}
	a.aside.Store(o.Aside)
	a.gone, a.leave = context.WithCancel(context.Background())
	a.spaces = openSpaces(a)
	return a
}

// StandAside has it never keep the inbox, in the place of [Agent.Run]. Nothing is answered on the server then.
func (a *Agent) StandAside(server *mcp.Server) {
	a.aside.Store(true)
	server.RemoveTools(toolset.ReplyTool)
}

// Leave ends the waits for messages: the MCP host has closed its end. What was begun otherwise comes to its end.
func (a *Agent) Leave() { a.leave() }

// Close ends it, after [Agent.Run].
func (a *Agent) Close() error {
	a.leave()
	return a.spaces.close()
}

// Register offers the tools on an MCP server.
func (a *Agent) Register(server *mcp.Server) { toolset.RegisterAll(server, a.spaces.sets()...) }

// Run keeps the inboxes, as soon as and as long as no other process does, until ctx ends. name is what the MCP host calls itself.
func (a *Agent) Run(ctx context.Context, name string) {
	a.mu.Lock()
	a.host = name
	a.mu.Unlock()
	for failures := 0; ; {
		err := a.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, presence.ErrDeleted) {
			a.notKept("The platform has deleted " + a.spaces.words("this workspace", "these workspaces") + ": no message comes any more, and nothing can be answered.")
			return
		}
		wait := retry
		if _, other := errors.AsType[*store.LockedError](err); other {
			failures = 0
		} else if errors.Is(err, errAsked) {
			failures = 0
			a.notKept(a.words(err))
			a.stepAside(ctx)
			continue
		} else {
			failures++
			wait = min(retry<<min(failures, 5), time.Minute)
			a.log.Error("the inbox cannot be kept here; this is tried again", "err", err)
		}
		a.notKept(a.words(err))
		if !sleep.For(ctx, wait) {
			return
		}
	}
}

// stepAside waits until the channel that has asked for the inbox has it, if it takes it.
func (a *Agent) stepAside(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for {
		if in, err := store.Inspect(a.options.Settings.StateDir); err == nil && in.Holder != nil || !sleep.For(ctx, lookEvery) {
			return
		}
	}
}

// once keeps the inboxes until that ends, or cannot be.
func (a *Agent) once(ctx context.Context) error {
	if other := a.served(); other != nil {
		return other
	}
	if in, err := store.Inspect(a.options.Settings.StateDir); err == nil && in.Holder != nil {
		return in.Holder // without a wait for the end of a process that is just gone
	}
	err := host.Live(ctx, a.log, func(ctx context.Context, life *host.Life) (host.Runtime, error) { return a.build(ctx, life) })
	if err == nil && ctx.Err() == nil {
		return errors.New("it has ended by itself")
	}
	return err
}

// served is the runtime that the platform pushes messages to; nil if none runs.
func (a *Agent) served() error {
	dir := a.options.Serves
	if dir == "" || dir == a.options.Settings.StateDir {
		return nil
	}
	in, _ := store.Inspect(dir) // what is wrong there otherwise is not ours to say
	if in.Holder == nil || !a.spaces.share(in.Holder.Holds) {
		return nil
	}
	return in.Holder
}

func (a *Agent) kept(k *keeper) { a.set(k, "") }

func (a *Agent) notKept(why string) { a.set(nil, why) }

func (a *Agent) set(k *keeper, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keeper != nil {
		a.keeper.desk.Close()
	}
	a.keeper, a.why = k, why
	close(a.changed)
	a.changed = make(chan struct{})
}

// startLimit is how long it may take at the start to find out whether the inbox is kept here.
const startLimit = 20 * time.Second

// current is the desk, or why there is none. At the start it waits until that is known.
func (a *Agent) current(ctx context.Context) (*desk.Desk, string) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		a.mu.Lock()
		k, why, changed := a.keeper, a.why, a.changed
		a.mu.Unlock()
		switch {
		case k != nil:
			return k.desk, ""
		case why != "" || a.aside.Load():
			return nil, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, "The inbox is not kept here yet; call again in a moment."
		}
	}
}
