package serve

import (
	"cmp"
	"context"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A face is what a workspace shows of itself: its card, by what its configuration says of it.
type face struct {
	host.Options
	shown  func() adapter.Identity // but for what the configuration says
	source source
	url    string              // by which it is called
	own    atomic.Pointer[any] // the card that the agent has given itself; nil if it has not
}

func newFace(g *host.Ground, from source) *face {
	s := g.Settings
	return &face{Options: g.Options, shown: g.Identity, source: from, url: platform.WorkspaceURL(s.WorkspaceURL, hostname(), portOf(s.Addr))}
}

// card is the agent card as the platform keeps it: the form that old and new readers
// understand.
func (f *face) card() any {
	if own := f.own.Load(); own != nil {
		return *own
	}
	id := f.identity()
	card, err := adapter.UnionCard(context.Background(), adapter.Card(id, f.url))
	if err != nil {
		f.Logger.Error("the agent card could not be made", "err", err)
		return map[string]any{"name": cmp.Or(id.Name, "codex"), "url": f.url, "skills": []any{}}
	}
	return card
}

// identity is what the card says of the agent: what the workspace's configuration calls
// it, as it is now.
func (f *face) identity() adapter.Identity {
	id, d := f.shown(), f.source.describe()
	id.Name, id.Description = d.Name, d.Description
	return id
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

// remember notes the card that the agent has given itself.
func (f *face) remember(card any) { f.own.Store(&card) }
