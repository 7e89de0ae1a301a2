package inbox

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/attachments"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A space is a workspace whose inbox is read.
type space struct {
	id, url  string
	client   *platform.Client
	files    *files.Folder
	tools    *toolset.Set
	recorder *toolset.Recorder
	door     codextools.Door
	joined   host.Later[presence.Presence]
	shown    func() adapter.Identity
	own      atomic.Pointer[any] // the card that the agent has given itself
}

type spaces []*space

// openSpaces makes what there is once for each workspace.
func openSpaces(life *host.Life, g *host.Ground) (spaces, error) {
	all, turns := make(spaces, 0, len(g.Settings.Spaces)), toolset.Turns()
	for _, w := range g.Settings.Spaces {
		m := &space{id: w.ID, url: w.URL, shown: g.Identity}
		cfg := secrets.SpaceConfig(g.Settings, w)
		cfg.Seen, cfg.Observe = g.Redact.Newest(secrets.MostGiven), g.Calls
		cfg.OnUnauthorized = func(ctx context.Context) error { return m.joined.Get().Register(ctx) }
		m.client = platform.New(cfg)
		life.Opened(m.client)
		m.files = g.Files.Folder(w.ID, m.client)
		life.Opened(m.files)
		of := g.Settings
		of.WorkspaceID = w.ID
		m.recorder = toolset.NewRecorder(m.client, g.Redact.String, g.Logger)
		teller := codextools.Teller{Client: m.client, Say: m.client.Notify, Said: g.Heard.Said}
		m.tools = codextools.New(of, codextools.OwnCard{Teller: teller, Remember: func(card any) { m.own.Store(&card) }}, g.Redact, toolset.Config{
			Card: m.card, Identity: g.Variables, Log: m.recorder.Record, Logger: g.Logger, Turns: turns,
		})
		var err error
		if m.door, err = codextools.DoorOf(of, nil, m.tools); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// offer has codex get the tools; those of all workspaces are the same.
func (all spaces) offer(cfg *codex.Config, g *host.Ground) {
	if g.Settings.Tools == settings.ToolsDynamic {
		all[0].door.Open(cfg, caller{all}, g.Heard.Said)
	}
}

// A caller is the tools of the workspace at which a message has arrived.
type caller struct{ all spaces }

// Call implements [agent.ToolCaller].
func (c caller) Call(ctx context.Context, call agent.ToolCall) agent.ToolResult {
	at := c.all.of(call.Context)
	if at < 0 {
		return agent.ToolResult{Text: "Error: the workspace of this conversation is not served here any more.", Failed: true}
	}
	return codextools.Caller{Set: c.all[at].tools}.Call(ctx, call)
}

// of says which workspace a conversation belongs to; -1 if that is none.
func (all spaces) of(conversation string) int {
	only := ""
	if len(all) == 1 {
		only = all[0].id
	}
	id := channel.WorkspaceOf(conversation, only)
	return slices.IndexFunc(all, func(m *space) bool { return m.id == id })
}

// boards bring the decisions of the workspaces' users.
func (all spaces) boards(life *host.Life, g *host.Ground) host.Boards {
	boards := make(host.Boards, 0, len(all))
	for i, m := range all {
		boards = append(boards, host.OpenBoard(life, g, m.client, func(conversation string) bool { return all.of(conversation) == i }))
	}
	return boards
}

func (all spaces) ids() []string {
	ids := make([]string, 0, len(all))
	for _, m := range all {
		ids = append(ids, m.id)
	}
	return ids
}

// workspaces are the spaces as the channel sees them.
func (all spaces) workspaces(g *host.Ground) []channel.Workspace {
	out := make([]channel.Workspace, 0, len(all))
	for _, m := range all {
		out = append(out, channel.Workspace{
			ID: m.id, Platform: m.client, Files: attachments.InboxOf(m.files, g.Settings.WorkDir), Awaited: m.tools.Awaited,
			Replied: m.tools.NoteReply,
			Telling: func(chat, reply string) { g.Heard.Telling(chat, reply, tasks.Sends) },
			Told:    func(chat, reply string, err error) { g.Heard.Telling(chat, reply, host.Delivery(err)) },
		})
	}
	return out
}

// card is what the platform is told that the agent is: that which it has given itself, or one without an address, since
// nothing can call it.
func (m *space) card() any {
	if own := m.own.Load(); own != nil {
		return *own
	}
	card := adapter.Card(m.shown(), "")
	out := map[string]any{"name": card.Name, "description": card.Description, "version": card.Version, "skills": []any{},
		"capabilities": map[string]any{"streaming": false, "pushNotifications": false}}
	if raw, err := json.Marshal(card.Skills); err == nil && len(card.Skills) > 0 {
		out["skills"] = json.RawMessage(raw)
	}
	return out
}
