package serve

import (
	"net/url"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/attachments"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// webConfig is how the server is configured.
func webConfig(m *member, all *host.Tasks, ready *readiness.Readiness, f folder, n *notify.Deliverer) server.Config {
	s := m.Settings
	card := func(baseURL string) *a2a.AgentCard { return adapter.Card(m.identity(), baseURL) }
	cfg := server.Config{
		Handler: all.Handler,
		// The card has no secrets; who asks for the extended one by 0.3 gets the same.
		Card: card, ExtendedCard: card,
		PublicURL: s.PublicURL, PureCard: s.Card == "1.0",
		ReplyAsMessage: s.Reply == "message", Reply: reply.Of,
		Token: s.Token.Reveal(), Refusals: m.Refusals, AnyHost: host.AnyHost(s), Methods: retries(n),
		Machines: m.MachinesAPI(),
		Ready:    ready.Get, Registry: m.Registry, Metrics: m.Metrics, Logger: m.Logger,
	}
	if d := m.desk; d != nil {
		cfg.Platform, cfg.AllowedHosts = d.side(f.folder, m.Version), ownNames(d.face.url)
	}
	if f.kept != nil {
		cfg.Kept = f.kept
	}
	return cfg
}

// A folder has the files of messages, and the copies of files that callers are handed out.
type folder struct {
	folder *files.Folder
	files  attachments.Attachments
	kept   *attachments.Kept // nil if no copies are handed out
}

// openFolder makes it. It is there standing alone, too.
func openFolder(life *host.Life, g *host.Ground, l *link) folder {
	f := folder{kept: g.Files.Keeping()}
	if l == nil {
		f.folder = g.Files.Folder(g.Settings.WorkspaceID, nil)
	} else {
		f.folder = g.Files.Folder(g.Settings.WorkspaceID, l.client, g.Settings.ConfigsDir, "/home", "/plugins")
	}
	life.Opened(f.folder)
	f.files = g.Files.Attachments(f.folder, l != nil).Handing(f.kept)
	return f
}

// ownNames are the names by which a workspace is registered, which peers call it by.
func ownNames(registered string) []string {
	u, err := url.Parse(registered)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host}
}
