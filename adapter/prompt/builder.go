package prompt

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A Platform is the part of the platform's client that prompts are made with; a
// [platform.Client] is one.
type Platform interface {
	Instructions(ctx context.Context) (string, error)
	SharedContext(ctx context.Context, workspace string) ([]platform.SharedFile, error)
	Peers(ctx context.Context) ([]platform.Peer, error)
}

// Config describes a builder. Dir must be set; the zero value of everything else
// leaves a part out.
type Config struct {
	Platform Platform
	Dir      string       // of the workspace's configuration
	User     *asuser.User // that codex runs as, and that files are read as; nil is ours
	Files    []string     // prompt_files, below Dir; none means system-prompt.md if it is there
	Skills   []string     // the names of folders in Dir/skills
	// Sources returns what Files and Skills are now, in their place; nil means that they
	// do not change. It must answer at once.
	Sources func() (files, skills []string)
	Plugins []string // folders that hold plugins, such as Dir/plugins
	Parent  string   // the id of the parent workspace
	Tools   bool     // codex has the workspace tools
	Cache   string   // the file that keeps the platform's parts over a restart
	Logger  *slog.Logger
}

// A Builder makes the instructions. Create it with [New].
type Builder struct {
	cfg   Config
	log   *slog.Logger
	text  atomic.Pointer[string]
	fresh chan struct{} // closed when everybody was asked once

	mu     sync.Mutex // guards the fields below; one refresh at a time
	parts  parts
	last   *ownParts // as they were read last
	held   bool      // one of them can be read later
	logged map[string]bool
	asked  bool // fresh is closed
}

const (
	refreshEvery = 5 * time.Minute
	askLimit     = 10 * time.Second // for each of the platform's parts

	mostFile  = 64 << 10  // bytes of one file
	mostText  = 192 << 10 // and of the whole text
	mostFiles = 64        // of plugins, skills and shared files, each
	mostNames = 1000      // in a folder of plugins, looked at
)

// New returns a builder whose text is that of the files, and of what the platform said
// last, if that is known.
func New(cfg Config) *Builder {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Builder{cfg: cfg, log: cfg.Logger, fresh: make(chan struct{}), logged: map[string]bool{}}
	b.parts = b.recall()
	b.make()
	return b
}

// Text returns the instructions as they are now. It does not wait.
func (b *Builder) Text() string { return *b.text.Load() }

// Fresh is closed when the platform was asked for the first time, or there is none.
func (b *Builder) Fresh() <-chan struct{} { return b.fresh }

// Run keeps the text up to date until ctx ends. It begins when start is closed: the
// platform may want the workspace to be registered.
func (b *Builder) Run(ctx context.Context, start <-chan struct{}) {
	select {
	case <-start:
	case <-ctx.Done():
		return
	}
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		b.Refresh(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Refresh reads the files and asks the platform.
func (b *Builder) Refresh(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := b.cfg.Platform != nil && b.askLocked(ctx)
	b.make()
	if changed {
		b.keepLocked()
	}
	if !b.asked && ctx.Err() == nil {
		b.asked = true
		close(b.fresh)
	}
}

// make puts the text together. The caller holds b.mu, or is the only one.
func (b *Builder) make() {
	files, skills := b.cfg.Files, b.cfg.Skills
	if b.cfg.Sources != nil {
		files, skills = b.cfg.Sources()
	}
	own := b.own(files, skills)
	sections := []string{
		titled("# Platform Instructions", b.parts.Instructions),
		own.files,
		shared(b.parts.Shared),
		own.plugins,
		own.skills,
		peers(b.parts.Peers),
	}
	if b.cfg.Tools {
		sections = append(sections, failedDelegation, otherAgents, memory)
	}
	text := joined(sections...)
	if len(text) > mostText {
		b.once("length", "the instructions of the workspace are too long and are cut", "bytes", len(text), "most", mostText)
		text = shortened(text, mostText)
	}
	b.text.Store(&text)
}

// once logs a warning, if it was not logged before.
func (b *Builder) once(key, message string, args ...any) {
	if !b.logged[key] {
		b.logged[key] = true
		b.log.Warn(message, args...) //nolint:sloglint // every caller has a constant
	}
}

// well lets what was wrong be logged again when it is wrong again.
func (b *Builder) well(key string) { delete(b.logged, key) }

// joined joins what is not empty by blank lines.
func joined(sections ...string) string {
	var all []string
	for _, s := range sections {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n\n")
}

// titled puts a heading over a text; nothing over nothing.
func titled(heading, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return heading + "\n\n" + text
}

// shortened is the beginning of a text, and says that it is.
func shortened(text string, most int) string {
	const note = "\n\n(The rest is left out: it is too long.)"
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(note)], "") + note
}
