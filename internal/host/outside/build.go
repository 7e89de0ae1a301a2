package outside

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/control"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/attachments"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// agentName is what senders read of who answers: which agent an MCP host is does not matter to them.
const agentName = "agent"

// hadByCodex is noted of the messages without an answer that a channel has given to codex before its end.
const hadByCodex = "A codex on this machine had this message before and may have begun to work on it; what it has done is not known. Look before you do anything twice."

// beat is how often the platform hears of a workspace that polls.
const beat = 20 * time.Second

// A keeper is what keeps the inboxes. It is a [host.Runtime].
type keeper struct {
	agent   *Agent
	journal *store.Store
	desk    *desk.Desk
	channel *channel.Channel
	asked   chan struct{} // closed when a channel that is started has asked for the inbox
	ask     sync.Once
}

// errAsked says that the inbox was given up to a channel that was starting.
var errAsked = errors.New("a channel that is started takes the inbox over")

// build makes the parts, those first that others stand on.
func (a *Agent) build(ctx context.Context, life *host.Life) (*keeper, error) {
	s := a.options.Settings
	journal, err := store.Open(ctx, store.Config{Dir: s.StateDir, What: "mcp", Holds: a.spaces.ids(), Logger: a.log})
	if err != nil {
		return nil, err
	}
	life.Opened(journal)
	if err := journal.NoteInboxHad(ctx, desk.Prefix, hadByCodex); err != nil {
		return nil, fmt.Errorf("the state of the inbox: %w", err)
	}
	k := &keeper{agent: a, journal: journal, asked: make(chan struct{})}
	if k.desk, err = desk.New(ctx, desk.Config{Journal: journal, Workspaces: a.spaces.ids(), Logger: a.log}); err != nil {
		return nil, fmt.Errorf("the state of the inbox: %w", err)
	}
	shared := attachments.Share(s, journal, a.log)
	life.Opened(shared)
	engine := stages{k.desk, channel.Fault(agentName), map[string]*files.Folder{}}
	workspaces := make([]channel.Workspace, 0, len(a.spaces))
	for _, m := range a.spaces {
		folder := shared.Folder(m.id, m.client)
		life.Opened(folder)
		engine.folders[m.id] = folder
		workspaces = append(workspaces, channel.Workspace{
			ID: m.id, Platform: m.client, Files: attachments.InboxOf(folder, s.WorkDir), Awaited: m.tools.Awaited, Replied: m.tools.NoteReply,
		})
	}
	k.channel = channel.New(channel.Config{
		Store: journal, Engine: engine, Workspaces: workspaces, Interval: s.PollInterval, Logger: a.log, Agent: agentName, Has: desk.Has,
	})
	socket, err := control.Listen(s.StateDir, givesWay{k.channel, k}, a.log)
	if err != nil {
		return nil, err
	}
	life.Opened(socket)
	life.Opened(given{a})
	life.Goes(k.present)
	life.Goes(k.yields)
	return k, nil
}

// Recover implements [host.Runtime]. The channel gives what an earlier process has left by itself.
func (k *keeper) Recover(context.Context) error {
	k.agent.kept(k)
	return nil
}

// Serve implements [host.Runtime].
func (k *keeper) Serve(ctx context.Context) error {
	k.agent.log.Info("the inbox is kept for an MCP host", "workspaces", k.agent.spaces.ids(), "state", k.journal.Path())
	return k.channel.Run(ctx, nil, nil)
}

// given gives the inbox up, before its state is closed.
type given struct{ agent *Agent }

// Close implements [io.Closer].
func (g given) Close() error {
	g.agent.notKept("The inbox is not kept here at the moment; call again soon.")
	return nil
}

// present keeps the workspaces known to their platforms. When all of them have been deleted there is nothing left to do.
func (k *keeper) present(ctx context.Context) error {
	a := k.agent
	var deleted atomic.Int32
	var wg sync.WaitGroup
	for _, m := range a.spaces {
		p := presence.New(presence.Config{
			Platform: m.client, DeliveryMode: "poll", Every: beat, Card: m.card, Tools: m.tools.Names,
			Redact: a.options.Redact.String, Logger: a.log.With("workspace", m.id),
		})
		m.joined.Store(p)
		wg.Go(func() {
			if errors.Is(p.Run(ctx), presence.ErrDeleted) {
				deleted.Add(1)
				k.channel.Leave(m.id)
				k.desk.Leave(m.id)
			}
			m.joined.Store(nil)
		})
	}
	wg.Wait()
	if int(deleted.Load()) == len(a.spaces) {
		return presence.ErrDeleted
	}
	return nil
}

// yields ends the keeping when a runtime is started that the platform pushes messages to, or a channel that asks for it.
func (k *keeper) yields(ctx context.Context) error {
	look := time.NewTicker(retry)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.asked:
			return errAsked
		case <-look.C:
		}
		if other := k.agent.served(); other != nil {
			return other
		}
	}
}

// givesWay has the replies that were refused for good, and gives the inbox up to a channel that asks for it.
type givesWay struct {
	*channel.Channel
	k *keeper
}

// Yield implements [control.Yielder].
func (g givesWay) Yield() { g.k.ask.Do(func() { close(g.k.asked) }) }
