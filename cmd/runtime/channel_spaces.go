package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// channelBeat is how often the platform hears of a workspace that polls.
const channelBeat = 20 * time.Second

// A space is a workspace whose inbox is read.
type space struct {
	id, url  string
	client   *platform.Client
	presence *presence.Presence
	files    *files.Folder
	tools    *toolset.Set
	recorder *toolset.Recorder
	own      atomic.Pointer[any] // the card that the agent has given itself
}

// openSpaces makes what there is once for each workspace, and offers codex their tools.
func (box *inbox) openSpaces(s settings.Settings, cfg *executor.Config, redact *logging.Redactor) {
	box.openLoans(s)
	quota, fetches := box.uploads(s, box.store), files.NewFetches()
	turns := toolset.Turns()
	for _, w := range s.Spaces {
		m := &space{id: w.ID, url: w.URL}
		cfg := secrets.SpaceConfig(s, w)
		cfg.Seen, cfg.Observe = redact.Newest(secrets.MostGiven), box.observe
		cfg.OnUnauthorized = func(ctx context.Context) error { return m.presence.Register(ctx) }
		m.client = platform.New(cfg)
		m.presence = presence.New(presence.Config{
			Platform: m.client, DeliveryMode: "poll", Every: channelBeat, Card: m.card(s),
			Metadata: platform.RuntimeMetadata{IdleTimeoutSeconds: silence(s)}, Tools: m.loaded(s),
			Wedged: func() string { return box.wedge.Why() },
			Redact: redact.String, Logger: box.log.With("workspace", w.ID),
		})
		m.files = files.New(files.Config{
			Work: s.WorkDir, Workspace: w.ID, Pending: pendingUploads{m.client},
			Guard: netguard.New(s.AllowedNetworks...), Fetches: fetches, Hidden: secrets.Hidden(s), User: s.User,
			Room: roomForFiles(s), Quota: quota, Log: box.log,
		})
		of := s
		of.WorkspaceID = w.ID
		m.recorder = toolset.NewRecorder(m.client, redact.String, box.log)
		m.tools = newTools(of, ownCard{teller{m.client, m.client.Notify, func() { box.engine.SaidToUser() }}, func(card any) { m.own.Store(&card) }}, redact, toolset.Config{
			Card: m.card(s), Log: m.recorder.Record, Logger: box.log, Turns: turns,
		})
		box.closers = append(box.closers, m.client, m.files)
		box.spaces = append(box.spaces, m)
	}
	if s.Tools == toolsDynamic && len(box.spaces) > 0 {
		cfg.Tools, cfg.Thread.DynamicTools = spaceDoor{box}, dynamicTools(box.spaces[0].tools)
		cfg.ToolTimeout = delegation(s) + 10*time.Minute
	}
}

func (m *space) loaded(s settings.Settings) func() []string {
	return func() []string {
		if s.Tools == toolsOff {
			return []string{}
		}
		return m.tools.Names()
	}
}

// card is what the platform is told that the agent is.
func (m *space) card(s settings.Settings) func() any {
	return func() any {
		if own := m.own.Load(); own != nil {
			return *own
		}
		return spaceCard(s)
	}
}

// spaceCard is the agent card of a workspace that nobody can call: it has no address.
func spaceCard(s settings.Settings) any {
	card := adapter.Card(cardIdentity(s), "")
	out := map[string]any{"name": card.Name, "description": card.Description, "version": card.Version, "skills": []any{},
		"capabilities": map[string]any{"streaming": false, "pushNotifications": false}}
	if raw, err := json.Marshal(card.Skills); err == nil && len(card.Skills) > 0 {
		out["skills"] = json.RawMessage(raw)
	}
	return out
}

// registered reports whether the platforms know the workspaces, and how that stands in words.
func (box *inbox) registered() (bool, string) {
	all, words := true, make([]string, 0, len(box.spaces))
	for _, m := range box.spaces {
		ok, how := m.presence.Ready()
		all, words = all && ok, append(words, m.id+": "+how)
	}
	return all, strings.Join(words, "; ")
}

// of returns the workspace that a conversation belongs to, or nil.
func (box *inbox) of(conversation string) *space {
	only := ""
	if len(box.spaces) == 1 {
		only = box.spaces[0].id
	}
	id := channel.WorkspaceOf(conversation, only)
	for _, m := range box.spaces {
		if m.id == id {
			return m
		}
	}
	return nil
}

// A spaceDoor is the tools of the workspace at which a message has arrived.
type spaceDoor struct{ box *inbox }

// Call implements [executor.ToolCaller].
func (d spaceDoor) Call(ctx context.Context, c agent.ToolCall) agent.ToolResult {
	m := d.box.of(c.Context)
	if m == nil {
		return agent.ToolResult{Text: "Error: the workspace of this conversation is not served here any more.", Failed: true}
	}
	return dynamicDoor{m.tools}.Call(ctx, c)
}

// workspaces are the spaces as the channel sees them.
func (box *inbox) workspaces() []channel.Workspace {
	out := make([]channel.Workspace, 0, len(box.spaces))
	for _, m := range box.spaces {
		out = append(out, channel.Workspace{
			ID: m.id, Platform: m.client, Files: spaceFiles{m.files, sendable{m.files, box.s.WorkDir}}, Awaited: m.tools.Awaited,
			Replied: m.tools.NoteReply,
			Telling: func(chat, reply string) { box.engine.Telling(chat, reply, tasks.Sends) },
			Told:    func(chat, reply string, err error) { box.engine.Telling(chat, reply, delivery(err)) },
		})
	}
	return out
}

// spaceFiles are the files of a workspace's messages. It implements [channel.Files].
type spaceFiles struct {
	folder *files.Folder
	open   sendable
}

// Fetch implements [channel.Files].
func (f spaceFiles) Fetch(ctx context.Context, in channel.File) (string, error) {
	file, err := f.folder.Stage(platform.Once(ctx), files.Incoming{Key: in.URI, Name: in.Name, MediaType: in.MediaType, URI: in.URI})
	return file.URI, err
}

// Open implements [channel.Files].
func (f spaceFiles) Open(out channel.File) (platform.File, error) {
	found, err := f.folder.Path(out.URI)
	if err != nil {
		return platform.File{}, errNoFile
	}
	file, err := f.open.Open(found.Path)
	file.Type = out.MediaType
	if out.Name != "" {
		file.Name = filepath.Base(out.Name)
	}
	return file, err
}
