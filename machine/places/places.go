// Package places has the folders in which conversations work on a machine, and their files. A place is known by the runtime
// that it is of and by its name: to another runtime it is not there.
package places

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A Refused is why something is not done, by its code of package wire.
type Refused struct{ Code, Message string }

func (e *Refused) Error() string { return e.Message }

// Trees are worktrees of git, each a place of one runtime. What a place is called is letters, digits and dashes.
type Trees interface {
	// Open makes a place for a branch, or returns the one that is there.
	Open(ctx context.Context, runtime, place, branch string) (wire.Place, error)
	// Absorb takes a bundle into the branch of a place, which stands at head then, and so do its files.
	Absorb(ctx context.Context, runtime, place, head string, bundle io.Reader) (wire.Place, error)
	// Commit commits what has changed in a place, and returns a bundle of what is new since what the runtime has,
	// and what that has come to. The bundle is nil if nothing is new; else the caller closes it.
	Commit(ctx context.Context, runtime, place string, what wire.Commit) (bundle io.ReadCloser, done wire.Committed, err error)
	// Remove takes a place away. One that is not there is no error.
	Remove(ctx context.Context, runtime, place string) error
}

// A Config says where places lie.
type Config struct {
	Root  string       // below which folders lie
	User  *asuser.User // that commands run as; nil is ours
	Trees Trees        // nil without git
}

// mostShared is how many shared folders of one runtime are known.
const mostShared = 10_000

// Places are those of a machine. Its methods may be called concurrently.
type Places struct {
	cfg Config

	mu     sync.Mutex // guards shared
	shared map[key]string
	count  map[string]int // of shared, by runtime
}

type key struct{ runtime, place string }

// New returns the places of a machine.
func New(cfg Config) *Places {
	return &Places{cfg: cfg, shared: map[key]string{}, count: map[string]int{}}
}

// Files are the kinds of places that there are.
func (p *Places) Files() []string {
	if p.cfg.Trees == nil {
		return []string{wire.FilesShared}
	}
	return []string{wire.FilesShared, wire.FilesGit}
}

// Open makes a place for a conversation.
func (p *Places) Open(ctx context.Context, runtime, place string, want wire.Want) (wire.Place, error) {
	switch {
	case want.Files == wire.FilesShared:
		return p.share(key{runtime, place}, want.Dir)
	case want.Files == wire.FilesGit && p.cfg.Trees != nil:
		return p.cfg.Trees.Open(ctx, runtime, place, want.Branch)
	}
	return wire.Place{}, &Refused{wire.CodeFiles, fmt.Sprintf("this machine has no places with files %q, but %q", want.Files, p.Files())}
}

// share has a folder that is there be the place.
func (p *Places) share(at key, dir string) (wire.Place, error) {
	found, err := p.inside(dir)
	if err != nil {
		return wire.Place{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.shared[at]; !known {
		if p.count[at.runtime] >= mostShared {
			return wire.Place{}, &Refused{wire.CodeFailed, "this machine knows as many places of this runtime as it may: remove those that are not used any more"}
		}
		p.count[at.runtime]++
	}
	p.shared[at] = found
	return wire.Place{Dir: found}, nil
}

// inside returns a folder without links, if it lies below the root.
func (p *Places) inside(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", &Refused{wire.CodeInvalid, "the folder of a shared place has to be an absolute path"}
	}
	root := within.Real(p.cfg.Root)
	at, err := asuser.Value(p.cfg.User, func() (string, error) {
		at, err := within.FollowNamed(dir)
		if err != nil {
			return "", &Refused{wire.CodeMissing, dir + " is not there on this machine: have its file system be mounted here, too, at the same path"}
		}
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			err = &Refused{wire.CodeInvalid, dir + " is no folder on this machine"}
		}
		return at, err
	})
	if err != nil {
		return "", err
	}
	if !within.Dir(root, at) {
		return "", &Refused{wire.CodePath, fmt.Sprintf("%s does not lie below %s on this machine (RUNTIME_MACHINE_ROOT)", dir, p.cfg.Root)}
	}
	return at, nil
}

// Remove takes a place away. A folder that is shared stays.
func (p *Places) Remove(ctx context.Context, runtime, place string) error {
	at := key{runtime, place}
	p.mu.Lock()
	_, known := p.shared[at]
	if known {
		delete(p.shared, at)
		if p.count[runtime]--; p.count[runtime] == 0 {
			delete(p.count, runtime)
		}
	}
	p.mu.Unlock()
	if known || p.cfg.Trees == nil {
		return nil
	}
	return p.cfg.Trees.Remove(ctx, runtime, place)
}

// Absorb is [Trees.Absorb].
func (p *Places) Absorb(ctx context.Context, runtime, place, head string, bundle io.Reader) (wire.Place, error) {
	if p.cfg.Trees == nil {
		return wire.Place{}, errNoGit()
	}
	return p.cfg.Trees.Absorb(ctx, runtime, place, head, bundle)
}

// Commit is [Trees.Commit].
func (p *Places) Commit(ctx context.Context, runtime, place string, what wire.Commit) (bundle io.ReadCloser, done wire.Committed, err error) {
	if p.cfg.Trees == nil {
		return nil, done, errNoGit()
	}
	return p.cfg.Trees.Commit(ctx, runtime, place, what)
}

func errNoGit() error {
	return &Refused{wire.CodeFiles, "this machine has no places of git"}
}

// folder returns where a place lies, by its path below the root.
func (p *Places) folder(runtime, place string) (string, error) {
	p.mu.Lock()
	dir, known := p.shared[key{runtime, place}]
	p.mu.Unlock()
	switch {
	case !known && p.cfg.Trees == nil:
		return "", errUnknown()
	case !known:
		return filepath.Join(runtime, place), nil // as worktrees lie
	}
	below, err := filepath.Rel(within.Real(p.cfg.Root), dir)
	return below, err
}

func errUnknown() error {
	return &Refused{wire.CodeMissing, "this runtime has no such place on this machine"}
}
