package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A member is what makes the runtime one of a platform's workspaces.
type member struct {
	s        settings.Settings
	source   source
	url      string
	presence *presence.Presence
	prompt   *prompt.Builder
	start    selfstart.Config
	log      *slog.Logger

	own atomic.Pointer[any] // the card that the agent has given itself; nil if it has not
}

// A description is what a workspace's configuration says of it, as far as its presence
// and its prompts go.
type description struct {
	Name, Role, Description          string
	PromptFiles, Skills              []string
	InitialPrompt, InitialPromptFile string
	IdlePrompt, IdlePromptFile       string
	IdleInterval                     time.Duration
}

// A source is where a description comes from: a file that may be there later than the
// runtime, and change.
type source struct {
	describe func() description
	known    <-chan struct{} // closed when the file was read for the first time
	problem  func() string   // why no turn can be started as things are configured; "" if they can
}

// configured is the source that a workspace's config.yaml is.
func configured(setup *adapter.Setup) source {
	problem := func() string {
		select {
		case <-setup.Known():
			return setup.Problem()
		default: // it is being read, or waited for: that is no fault
			return ""
		}
	}
	return source{known: setup.Known(), problem: problem, describe: func() description {
		c := setup.Config()
		return description{
			Name: c.Name, Role: c.Role, Description: c.Description, PromptFiles: c.PromptFiles, Skills: c.Skills,
			InitialPrompt: c.InitialPrompt, InitialPromptFile: c.InitialPromptFile,
			IdlePrompt: c.IdlePrompt, IdlePromptFile: c.IdlePromptFile, IdleInterval: c.IdleInterval,
		}
	}}
}

// join makes what the platform is told, and what codex is told of the workspace. There
// is nothing of it standing alone.
func (app *application) join(s settings.Settings, from source, redact *logging.Redactor) {
	if !s.InWorkspace() {
		return
	}
	m := &member{s: s, source: from, url: platform.WorkspaceURL(s.WorkspaceURL, hostname(), portOf(s.Addr)), log: app.log}
	client := app.workspaceClient(s)
	m.presence = presence.New(presence.Config{
		Platform: client, URL: m.url, Card: m.card,
		Metadata: platform.RuntimeMetadata{IdleTimeoutSeconds: silence(s)},
		Tools:    app.loadedTools,
		Wedged:   func() string { return app.wedge.Why() },
		Redact:   redact.String, Logger: app.log,
	})
	m.prompt = prompt.New(prompt.Config{
		Platform: client, Dir: s.ConfigsDir, User: s.User, Parent: s.ParentID,
		Sources: func() ([]string, []string) { d := from.describe(); return d.PromptFiles, d.Skills },
		Plugins: []string{filepath.Join(s.ConfigsDir, "plugins"), s.PluginsDir}, Tools: s.Tools != toolsOff,
		Cache: filepath.Join(s.StateDir, "prompt.json"), Logger: app.log,
	})
	m.start = selfstart.Config{
		Send: app.sendToSelf(s), Work: m.presence, Platform: app.telling(s), Workspace: s.WorkspaceID,
		MarkerDirs: []string{s.ConfigsDir, s.WorkDir},
		Rest:       func() bool { return m.presence.Status().Paused || app.executor.Held() != "" },
		Awaited:    app.tools.set.Awaited, Name: app.tools.set.Name, Excerpt: app.tools.set.Excerpt,
		Seen: filepath.Join(s.StateDir, "delegations.json"), Logger: app.log,
	}
	app.member = m
	app.background = append(app.background, m.presence.Run)
	app.goOn(func(ctx context.Context) { m.prompt.Run(ctx, m.presence.Tried()) })
	app.goOn(m.configured)
}

// speaker is who says to the user what no caller waits for.
func (app *application) speaker(s settings.Settings) *platform.Speaker {
	if app.speaks == nil {
		app.speaks = platform.NewSpeaker(app.workspaceClient(s))
	}
	return app.speaks
}

// workspaceClient is the one client of the program's parts: it keeps what the platform
// gives out, and registers anew where that refuses the token.
func (app *application) workspaceClient(s settings.Settings) *platform.Client {
	if app.platform != nil {
		return app.platform
	}
	cfg := secrets.PlatformConfig(s, app.redact)
	cfg.Observe, cfg.Files = app.observe, &app.tokens
	cfg.Dir, cfg.OnUnauthorized = s.ConfigsDir, func(ctx context.Context) error {
		if app.member == nil { // it is being made
			return errNotJoined
		}
		return app.member.presence.Register(ctx)
	}
	app.platform = platform.New(cfg)
	app.closers = append(app.closers, app.platform)
	return app.platform
}

var errNotJoined = errors.New("the workspace is not registered yet")

// instructions are what codex's threads are told; nil standing alone.
func (app *application) instructions() func() string {
	if app.member == nil {
		return nil
	}
	return func() string {
		return strings.TrimSpace(app.member.prompt.Text() + "\n\n" + peerwords.Instructions)
	}
}

// configured does what can only be done when the configuration is there.
func (m *member) configured(ctx context.Context) {
	late := false
	select {
	case <-m.source.known:
	default:
		late = true
		select {
		case <-m.source.known:
		case <-ctx.Done():
			return
		}
	}
	d := m.source.describe()
	m.writeAgents(d)
	if late { // the card that the platform has may lack its name, and codex its prompt
		m.presence.Renew()
		m.prompt.Refresh(ctx)
	}
	start := m.start
	start.InitialPrompt = m.text(d.InitialPrompt, d.InitialPromptFile)
	start.IdlePrompt, start.IdleInterval = m.text(d.IdlePrompt, d.IdlePromptFile), d.IdleInterval
	selfstart.Run(ctx, start, m.presence.Tried(), m.prompt.Fresh())
}

// text is a prompt of the configuration, or what stands in the file that it names.
func (m *member) text(text, file string) string {
	if text != "" || file == "" {
		return text
	}
	text, err := prompt.ReadFile(m.s.ConfigsDir, file, m.s.User)
	if err != nil {
		m.log.Error("a prompt of the workspace cannot be read and is not sent", "file", file, "err", err)
	}
	return text
}

func (m *member) writeAgents(d description) {
	id := prompt.Identity{Name: d.Name, Role: d.Role, Description: d.Description, URL: m.url}
	ours, err := asuser.Value(m.s.User, func() (bool, error) { return prompt.WriteAgents(m.s.WorkDir, id) })
	switch {
	case err != nil:
		m.log.Warn("AGENTS.md could not be written; codex works without", "err", err)
	case !ours:
		m.log.Info("AGENTS.md is somebody else's and stays as it is; codex reads it")
	}
}

// card is the agent card as the platform keeps it: the form that old and new readers
// understand.
func (m *member) card() any {
	if own := m.own.Load(); own != nil {
		return *own
	}
	id := m.identity()
	card, err := adapter.UnionCard(context.Background(), adapter.Card(id, m.url))
	if err != nil {
		m.log.Error("the agent card could not be made", "err", err)
		return map[string]any{"name": cmp.Or(id.Name, "codex"), "url": m.url, "skills": []any{}}
	}
	return card
}

// identity is what the card says of the agent: what the workspace's configuration calls
// it, as it is now.
func (m *member) identity() adapter.Identity {
	id, d := cardIdentity(m.s), m.source.describe()
	id.Name, id.Description = d.Name, d.Description
	return id
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
