package serve

import (
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A desk is what codex is given of a workspace: its tools and its instructions. There is none standing alone.
type desk struct {
	*link
	face     *face
	heard    *host.Heard
	set      *toolset.Set
	recorder *toolset.Recorder
	door     codextools.Door
	prompt   *prompt.Builder
}

func openDesk(life *host.Life, g *host.Ground, l *link) (_ *desk, err error) {
	if l == nil {
		return nil, nil
	}
	s := g.Settings
	d := &desk{link: l, heard: g.Heard, face: newFace(g, configured(g.Codex.Setup))}
	d.recorder = toolset.NewRecorder(l.client, g.Redact.String, g.Logger)
	life.GoesOn(d.recorder.Run)
	d.set = codextools.New(s, codextools.OwnCard{Teller: l.teller(g.Heard), Remember: d.face.remember}, g.Redact, toolset.Config{
		Card: d.face.card, May: func(action string) bool { return g.Codex.Setup.Config().RBAC.Allows(action) },
		Identity: g.Variables, Log: d.recorder.Record, Logger: g.Logger,
	})
	if d.door, err = codextools.DoorOf(s, g.Environ, d.set); err != nil {
		return nil, err
	}
	d.prompt = prompt.New(prompt.Config{
		Platform: l.client, Dir: s.ConfigsDir, User: s.User, Parent: s.ParentID,
		Sources: func() ([]string, []string) { c := d.face.source.describe(); return c.PromptFiles, c.Skills },
		Plugins: []string{filepath.Join(s.ConfigsDir, "plugins"), s.PluginsDir}, Tools: s.Tools != settings.ToolsOff,
		Cache: filepath.Join(s.StateDir, "prompt.json"), Logger: g.Logger,
	})
	return d, nil
}

// open has codex get it.
func (d *desk) open(cfg *codex.Config) {
	if d == nil {
		return
	}
	d.door.Open(cfg, codextools.Caller{Set: d.set}, d.heard.Said)
	cfg.Instructions = func() string { return strings.TrimSpace(d.prompt.Text() + "\n\n" + peerwords.Instructions) }
}
