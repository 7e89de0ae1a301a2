package serve

import (
	"context"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/activity"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A member is the runtime as one of a platform's workspaces. Standing alone it has neither desk nor presence.
type member struct {
	*host.Turns
	desk     *desk
	presence *presence.Presence
}

// join makes what keeps a workspace known to its platform.
func join(life *host.Life, t *host.Turns, d *desk) *member {
	m := &member{Turns: t, desk: d}
	if d == nil {
		return m
	}
	m.presence = presence.New(presence.Config{
		Platform: d.client, URL: d.face.url, Card: d.face.card,
		Metadata: platform.RuntimeMetadata{IdleTimeoutSeconds: host.Silence(t.Settings)},
		Tools:    d.door.Loaded,
		Wedged:   t.Wedged(d.face.source.problem),
		Redact:   t.Redact.String, Logger: t.Logger,
	})
	d.joined.Set(m.presence)
	t.Checks.OnMade(m.presence.Changed) // the platform hears soon when that changes
	life.Goes(m.presence.Run)
	life.GoesOn(func(ctx context.Context) { d.prompt.Run(ctx, m.presence.Tried()) })
	return m
}

// registered says how the platform and the runtime stand; nil standing alone.
func (m *member) registered() func() (bool, string) {
	if m.presence == nil {
		return nil
	}
	return m.presence.Ready
}

// identity is what the card says of the agent: the platform and direct callers are shown the same.
func (m *member) identity() adapter.Identity {
	if m.desk == nil {
		return m.Identity()
	}
	return m.desk.face.identity()
}

// watchers hear of jobs, in their order. The record of the wire is first, so that nothing that follows from an event
// stands in it before that. The row of a tool is made before anything else follows from its end. The count that the
// platform is told stands next to the task: a job is active before anything else is done about it, and is not as soon as
// its task has the end.
func (m *member) watchers() executor.Watchers {
	if m.desk == nil {
		return executor.Watchers{m.Wire, m.Traces}
	}
	return executor.Watchers{
		m.Wire,
		activity.Rows{Record: m.desk.recorder.Record, Redact: m.Redact.String},
		m.Traces,
		activity.Counted{Presence: m.presence, Worked: m.Checks.Doubt},
	}
}

// begin has the workspace do what it does by itself, when its configuration is there.
func (m *member) begin(life *host.Life, all *host.Tasks) {
	if m.desk == nil {
		return
	}
	s, set := m.Settings, m.desk.set
	start := selfstart.Config{
		Send: sendToSelf(s.WorkspaceID, all.Handler), Work: m.presence, Platform: m.desk.teller(m.Heard), Workspace: s.WorkspaceID,
		MarkerDirs: []string{s.ConfigsDir, s.WorkDir},
		Rest:       func() bool { return m.presence.Status().Paused || m.Executor.Held() != "" },
		Awaited:    set.Awaited, Name: set.Name, Excerpt: set.Excerpt,
		Seen: filepath.Join(s.StateDir, "delegations.json"), Logger: m.Logger,
	}
	life.GoesOn(func(ctx context.Context) { m.configured(ctx, start) })
}

// configured does what can only be done when the configuration is there.
func (m *member) configured(ctx context.Context, start selfstart.Config) {
	late := false
	select {
	case <-m.desk.face.source.known:
	default:
		late = true
		select {
		case <-m.desk.face.source.known:
		case <-ctx.Done():
			return
		}
	}
	d := m.desk.face.source.describe()
	m.writeAgents(d)
	if late { // the card that the platform has may lack its name, and codex its prompt
		m.presence.Renew()
		m.desk.prompt.Refresh(ctx)
	}
	start.InitialPrompt = m.text(d.InitialPrompt, d.InitialPromptFile)
	start.IdlePrompt, start.IdleInterval = m.text(d.IdlePrompt, d.IdlePromptFile), d.IdleInterval
	selfstart.Run(ctx, start, m.presence.Tried(), m.desk.prompt.Fresh())
}

// text is a prompt of the configuration, or what stands in the file that it names.
func (m *member) text(text, file string) string {
	if text != "" || file == "" {
		return text
	}
	text, err := prompt.ReadFile(m.Settings.ConfigsDir, file, m.Settings.User)
	if err != nil {
		m.Logger.Error("a prompt of the workspace cannot be read and is not sent", "file", file, "err", err)
	}
	return text
}

func (m *member) writeAgents(d description) {
	id := prompt.Identity{Name: d.Name, Role: d.Role, Description: d.Description, URL: m.desk.face.url}
	ours, err := asuser.Value(m.Settings.User, func() (bool, error) { return prompt.WriteAgents(m.Settings.WorkDir, id) })
	switch {
	case err != nil:
		m.Logger.Warn("AGENTS.md could not be written; codex works without", "err", err)
	case !ours:
		m.Logger.Info("AGENTS.md is somebody else's and stays as it is; codex reads it")
	}
}
