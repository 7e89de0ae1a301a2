package outside

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A space is a workspace that the MCP host works for.
type space struct {
	id       string
	agent    *Agent
	client   *platform.Client
	tools    *toolset.Set
	recorder *toolset.Recorder
	end      func()                            // ends what the tools need
	joined   atomic.Pointer[presence.Presence] // nil while the inbox is not kept here
	own      atomic.Pointer[any]               // the card that the agent has given itself
}

type spaces []*space

// openSpaces makes what there is as long as the process lives.
func openSpaces(a *Agent) spaces {
	s := a.options.Settings
	all, turns := make(spaces, 0, len(s.Spaces)), toolset.Turns()
	for _, w := range s.Spaces {
		m := &space{id: w.ID, agent: a}
		cfg := secrets.SpaceConfig(s, w)
		cfg.Seen, cfg.OnUnauthorized = a.options.Redact.Newest(secrets.MostGiven), m.registerAnew
		m.client = platform.New(cfg)
		of := s
		of.WorkspaceID = w.ID
		m.recorder, m.end = codextools.Recorder(m.client, a.options.Redact, a.log)
		m.tools = codextools.New(of, ownCard{m.client, m}, a.options.Redact, toolset.Config{
			Card: m.shown, May: codextools.May(s.ConfigFile), Identity: a.options.Variables, Log: m.recorder.Record, Logger: a.log, Turns: turns, Inbox: a,
		})
		all = append(all, m)
	}
	return all
}

func (all spaces) close() error {
	var err error
	for _, m := range all {
		m.end()
		err = errors.Join(err, m.client.Close())
	}
	return err
}

func (all spaces) sets() []*toolset.Set {
	sets := make([]*toolset.Set, 0, len(all))
	for _, m := range all {
		sets = append(sets, m.tools)
	}
	return sets
}

func (all spaces) ids() []string {
	ids := make([]string, 0, len(all))
	for _, m := range all {
		ids = append(ids, m.id)
	}
	return ids
}

// share reports whether one of them is among workspaces, or may be: where none are known.
func (all spaces) share(ids []string) bool {
	return len(ids) == 0 || slices.ContainsFunc(all.ids(), func(id string) bool { return slices.Contains(ids, id) })
}

// words are those for one workspace, or for several.
func (all spaces) words(one, several string) string {
	if len(all) > 1 {
		return several + " (" + strings.Join(all.ids(), ", ") + ")"
	}
	return one
}

// registerAnew is for calls whose token the platform has refused.
func (m *space) registerAnew(ctx context.Context) error {
	if p := m.joined.Load(); p != nil {
		return p.Register(ctx)
	}
	return errors.New("the workspace is not registered by this process")
}

// ownCard is the platform as the tools see it. It remembers the card that the agent has given itself.
type ownCard struct {
	*platform.Client
	of *space
}

// UpdateCard implements [toolset.Platform].
func (o ownCard) UpdateCard(ctx context.Context, card any) error {
	err := o.Client.UpdateCard(ctx, card)
	if err == nil {
		o.of.own.Store(&card)
	}
	return err
}

// shown is the card for the tools: where another process has registered the workspace, only the platform knows it.
func (m *space) shown() any {
	if m.joined.Load() == nil && m.own.Load() == nil {
		return nil
	}
	return m.card()
}

// card is what the platform is told that the agent is: that which it has given itself, or one by the name of the MCP host.
func (m *space) card() any {
	if own := m.own.Load(); own != nil {
		return *own
	}
	s := m.agent.options.Settings
	m.agent.mu.Lock()
	name := cmp.Or(s.AgentName, m.agent.host, "agent")
	m.agent.mu.Unlock()
	skills := []any{}
	for skill := range strings.SplitSeq(s.AgentSkills, ",") {
		if skill = strings.TrimSpace(skill); skill != "" {
			skills = append(skills, map[string]any{"id": skill, "name": skill, "description": skill, "tags": []string{}})
		}
	}
	return map[string]any{
		"name": name, "version": m.agent.options.Version, "skills": skills,
		"description":  cmp.Or(s.AgentDescription, "An agent that fetches its messages itself and answers when it comes to them."),
		"capabilities": map[string]any{"streaming": false, "pushNotifications": false},
	}
}
