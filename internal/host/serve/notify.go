package serve

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// places are those of the platform.
type places struct {
	*platform.Speaker
	client    *platform.Client
	workspace string
	said      func() // see [tasks.Engine.SaidToUser]
}

// Notify implements [notify.Platform].
func (c places) Notify(ctx context.Context, at notify.Place, id, message string) error {
	switch {
	case at.Peer != "":
		return c.tellPeer(ctx, at.Peer, id, message)
	case at.Chat != "":
		return c.tellChat(ctx, at, message)
	}
	if there, err := c.Arrived(ctx, id, message); there || err != nil {
		return err
	}
	c.said()
	defer c.said()
	return c.Say(ctx, id, message)
}

// tellPeer sends a notice to another agent, marked as what wants no answer. Where the platform hangs it is not known
// whether the agent has it: it is sent again under the same name.
func (c places) tellPeer(ctx context.Context, peer, id, message string) error {
	_, err := c.client.Send(platform.Once(ctx), peer, platform.Message{
		ID: id + "-end", Text: message, Metadata: map[string]any{"source_workspace_id": c.workspace, platform.NoAnswer: true},
	})
	if _, taken := errors.AsType[*platform.TakenError](err); taken {
		return nil
	}
	return err
}

// tellChat says a notice in a chat that the workspace is connected to.
func (c places) tellChat(ctx context.Context, at notify.Place, message string) error {
	all, err := c.client.Chats(ctx)
	if errors.Is(err, platform.ErrUnsupported) {
		return noChatError("the platform does not offer to say something in a chat")
	}
	if err != nil {
		return err
	}
	chat, ok := platform.OnlyChat(all, at.Service, at.Chat)
	if !ok {
		return noChatError("the workspace is not connected to that chat, or to it together with others, which would get the message, too")
	}
	return c.client.SayInChat(ctx, chat.ID, message)
}

// A noChatError says why nothing can be said in a chat.
type noChatError string

func (e noChatError) Error() string { return string(e) }
func (noChatError) Permanent() bool { return true }

type posterCloser struct{ *push.Poster }

func (p posterCloser) Close() error {
	p.Poster.Close()
	return nil
}

// openNotifier makes what tells of the ends of tasks.
func openNotifier(life *host.Life, g *host.Ground, l *link) *notify.Deliverer {
	cfg := notify.Config{Journal: g.Journal, Logger: g.Logger}
	if g.Settings.Push {
		cfg.Poster = push.NewPoster(netguard.New(g.Settings.AllowedNetworks...), 0, time.Now)
		life.Opened(posterCloser{cfg.Poster})
	}
	if l != nil {
		cfg.Platform = places{l.speaker, l.client, g.Settings.WorkspaceID, g.Heard.Said}
	}
	notifier := notify.New(cfg)
	life.GoesOn(notifier.Run)
	return notifier
}

// retries is the method of the extension that has those told again who could not be told.
func retries(notifier *notify.Deliverer) map[string]func(context.Context, json.RawMessage) (any, error) {
	return map[string]func(context.Context, json.RawMessage) (any, error){
		host.NotifyMethod: func(ctx context.Context, raw json.RawMessage) (any, error) {
			var params struct {
				Limit  int  `json:"limit"`
				DryRun bool `json:"dryRun"`
			}
			if err := json.Unmarshal(raw, &params); err != nil {
				return nil, a2a.NewError(a2a.ErrInvalidParams, "limit must be a whole number, and dryRun true or false")
			}
			return notifier.Retry(ctx, params.Limit, params.DryRun)
		},
	}
}

// openPush makes what sends push notifications; nil where they are switched off.
func openPush(life *host.Life, g *host.Ground) *tasks.Push {
	s := g.Settings
	if !s.Push {
		return nil
	}
	sender := func(conversation string) push.Sender { return tasks.PushSender(s.InWorkspace(), conversation) }
	pusher := push.New(push.Config{Outbox: g.Journal, Guard: netguard.New(s.AllowedNetworks...), Sender: sender, Logger: g.Logger})
	life.GoesOn(pusher.Run)
	return &tasks.Push{Check: pusher.Check, TaskV0: wire.TaskV0, Show: guard.ShowPushed(s.PublicURL), Wake: pusher.Wake, Full: pusher.Full, Reserve: pusher.Reserve}
}
