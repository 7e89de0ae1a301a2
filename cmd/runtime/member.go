package main

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A member is what makes the runtime one of a platform's workspaces.
type member struct {
	presence *presence.Presence
	prompt   *prompt.Builder
	start    selfstart.Config
	identity prompt.Identity
	workDir  string
	log      *slog.Logger
}

// A description is what a workspace's configuration says of it, as far as its presence
// and its prompts go.
type description struct {
	Name, Role, Description string
	PromptFiles, Skills     []string
	InitialPrompt           string
	IdlePrompt              string
	IdleInterval            time.Duration
}

// join makes what the platform is told, and what codex is told of the workspace. There
// is nothing of it standing alone.
func (app *application) join(s settings.Settings, d description, registry *prometheus.Registry, redact *logging.Redactor) {
	if !s.InWorkspace() {
		return
	}
	m := &member{workDir: s.WorkDir, log: app.log}
	client := workspaceClient(s, func(ctx context.Context) error { return m.presence.Register(ctx) })
	app.closers = append(app.closers, client)
	url := platform.WorkspaceURL(s.WorkspaceURL, hostname(), portOf(s.Addr))
	m.identity = prompt.Identity{Name: d.Name, Role: d.Role, Description: d.Description, URL: url}
	m.presence = presence.New(presence.Config{
		Platform: client, URL: url, Card: func() any { return app.platformCard(s, d, url) },
		Metadata: platform.RuntimeMetadata{IdleTimeoutSeconds: silence(s)},
		Tools:    app.loadedTools,
		Wedged:   (&wedge{app: app}).why,
		Redact:   redact.String, Metrics: newPlatformMetrics(registry), Logger: app.log,
	})
	m.prompt = prompt.New(prompt.Config{
		Platform: client, Dir: s.ConfigsDir, Files: d.PromptFiles, Skills: d.Skills, Parent: s.ParentID,
		Plugins: []string{filepath.Join(s.ConfigsDir, "plugins"), s.PluginsDir}, Tools: s.Tools != toolsOff,
		Cache: filepath.Join(s.StateDir, "prompt.json"), Logger: app.log,
	})
	m.start = selfstart.Config{
		Send: app.sendToSelf(s), Work: m.presence, Platform: client, Workspace: s.WorkspaceID,
		InitialPrompt: d.InitialPrompt, MarkerDirs: []string{s.ConfigsDir, s.WorkDir},
		IdlePrompt: d.IdlePrompt, IdleInterval: d.IdleInterval,
		Rest: func() bool { return m.presence.Status().Paused || app.executor.Held() != "" },
		Seen: filepath.Join(s.StateDir, "delegations.json"), Logger: app.log,
	}
	app.member = m
}

// workspaceClient is [platformClient] for whoever keeps what the platform gives out,
// and registers anew where it refuses the token.
func workspaceClient(s settings.Settings, register func(context.Context) error) *platform.Client {
	cfg := platformConfig(s)
	cfg.Dir, cfg.OnUnauthorized = s.ConfigsDir, register
	return platform.New(cfg)
}

// instructions are what codex's threads are told; nil standing alone.
func (app *application) instructions() func() string {
	if app.member == nil {
		return nil
	}
	return app.member.prompt.Text
}

// tellOf has readiness say how the platform and we stand, and the platform hear soon
// when that changes.
func (app *application) tellOf(ready *readiness) {
	if app.member != nil {
		ready.registered, ready.changed = app.member.presence.Ready, app.member.presence.Changed
	}
}

// runMember keeps the workspace known, its prompts up to date, and sends what it sends
// to itself. The runtime listens.
func (app *application) runMember(ctx context.Context, group *errgroup.Group) {
	m := app.member
	if m == nil {
		return
	}
	m.writeAgents()
	group.Go(func() error { return m.presence.Run(ctx) })
	group.Go(func() error {
		m.prompt.Run(ctx, m.presence.Tried())
		return nil
	})
	group.Go(func() error {
		selfstart.Run(ctx, m.start, m.presence.Tried(), m.prompt.Fresh())
		return nil
	})
}

func (m *member) writeAgents() {
	ours, err := prompt.WriteAgents(m.workDir, m.identity)
	switch {
	case err != nil:
		m.log.Warn("AGENTS.md could not be written; codex works without", "err", err)
	case !ours:
		m.log.Info("AGENTS.md is somebody else's and stays as it is; codex reads it")
	}
}

// platformCard is the agent card as the platform keeps it: the form that old and new
// readers understand.
func (app *application) platformCard(s settings.Settings, d description, url string) any {
	id := cardIdentity(s)
	id.Name, id.Description = cmp.Or(d.Name, id.Name), cmp.Or(d.Description, id.Description)
	card, err := adapter.UnionCard(context.Background(), adapter.Card(id, url))
	if err != nil {
		app.log.Error("the agent card could not be made", "err", err)
		return map[string]any{"name": cmp.Or(d.Name, "codex"), "url": url, "skills": []any{}}
	}
	return card
}

// silence is how long a turn of ours may be silent, in seconds: the platform must not
// give it up before we do. 0 says nothing.
func silence(s settings.Settings) int {
	if s.IdleTimeout == 0 || s.ItemTimeout == 0 {
		return 0
	}
	return int((max(s.IdleTimeout, s.ItemTimeout) + time.Minute) / time.Second)
}

// hostname is the container's own name, by which others on its network reach it.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

func portOf(addr string) int {
	_, port, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(port)
	return n
}
