package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// A Config says where a repository is, and how it is used.
type Config struct {
	Dir  string       // absolute. Its parents are made where the user may do that
	User *asuser.User // that owns all of it and runs git: the one that codex runs as. Nil is ours
	// MaxFile is how large a file may be that is committed, in bytes; 0 is [MaxFile].
	MaxFile int64
	// Exclude are patterns as in a .gitignore, of what no tree has in its commits. Commands that use git in a tree see
	// them, too.
	Exclude []string
	// Remote are variables that git has beside its own where it speaks to a URL: GIT_ASKPASS, HOME or SSH_AUTH_SOCK for
	// its credentials, HTTPS_PROXY. No other git has them.
	Remote []string
	Logger *slog.Logger // nil is silence
}

// MaxFile is how large a file may be that is committed, where nothing else is said.
const MaxFile = 100 << 20

// A Repository is a bare git repository of this program's own, with the trees that belong to it. Its methods may be
// called concurrently: what changes a branch or its tree waits for what does so already.
type Repository struct {
	git
	maxFile int64
	remote  []string
	turns   atomic.Int64 // that were kept since it was opened
}

// Open opens a repository, and makes it if it is not there. What is there and was not made by Open is [ErrForeign], and
// what is no repository any more [ErrDamaged]. What processes have left that were killed is taken away.
func Open(ctx context.Context, config Config) (*Repository, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	if !filepath.IsAbs(config.Dir) {
		return nil, fmt.Errorf("the folder of a git repository has to be absolute, and is %q", config.Dir)
	}
	r := &Repository{
		git: git{
			program: program, user: config.User,
			log: cmp.Or(config.Logger, slog.New(slog.DiscardHandler)),
			env: environment(program),
		},
		maxFile: cmp.Or(config.MaxFile, MaxFile), remote: slices.Clone(config.Remote),
	}
	err = r.user.Do(func() error {
		if err := os.MkdirAll(config.Dir, 0o700); err != nil {
			return err
		}
		r.dir, err = within.Follow(config.Dir)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the folder of a git repository: %w", err)
	}
	if err := r.checkVersion(ctx); err != nil {
		return nil, err
	}
	if err := r.make(ctx, config.Exclude); err != nil {
		return nil, fmt.Errorf("%s: %w", r.dir, err)
	}
	if err := r.clearIncoming(); err != nil {
		return nil, fmt.Errorf("%s: what was left there: %w", r.dir, err)
	}
	r.clearHalves(halfPacks, "objects/tmp_*", "objects/??/tmp_obj_*")
	return r, nil
}

// Dir is where the repository is, without symlinks.
func (r *Repository) Dir() string { return r.dir }

// The oldest git that is served.
const oldestMajor, oldestMinor = 2, 39

func (r *Repository) checkVersion(ctx context.Context) error {
	said, err := r.text(ctx, call{args: []string{"version"}})
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w", r.program, err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(said, "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("%s says %q of its version, and not what a git says", r.program, said)
	}
	if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		return fmt.Errorf("%s is too old (%s): install git %d.%d or a newer one", r.program, said, oldestMajor, oldestMinor)
	}
	return nil
}

// made stands in the mark when the repository was made as a whole.
const made = "made\n"

// make makes a repository, or finds it whole. A mark is the first thing that is made of it, and says when that was the
// last.
func (r *Repository) make(ctx context.Context, exclude []string) error {
	mark := filepath.Join(r.dir, markFile)
	said, err := r.read(mark)
	if err != nil {
		return err
	}
	if said == "" {
		if err := r.user.Do(func() error { return checkEmpty(r.dir) }); err != nil {
			return err
		}
		if err := r.write(mark, "begun\n"); err != nil {
			return err
		}
	}
	if said != made {
		if _, err := r.text(ctx, call{args: []string{"init", "--quiet", "--bare", "--template=", r.dir}}); err != nil {
			return err
		}
	}
	for _, part := range []string{"objects", "refs"} {
		info, err := r.lstat(filepath.Join(r.dir, part))
		if err != nil {
			return err
		}
		if info == nil || !info.IsDir() {
			return fmt.Errorf("%w (it has no folder %s)", ErrDamaged, part)
		}
	}
	kept := keptFiles(r.dir, exclude)
	if said != made {
		for path, text := range kept {
			if err := r.write(path, text); err != nil {
				return err
			}
		}
	}
	r.kept = kept
	if _, err := r.text(ctx, call{args: []string{"for-each-ref", "--count=1"}}); err != nil {
		if _, ok := errors.AsType[*GitError](err); ok {
			return fmt.Errorf("%w (%w)", ErrDamaged, err)
		}
		return err
	}
	if said != made {
		return r.write(mark, made)
	}
	return nil
}

// checkEmpty says that a folder is not one for us, unless there is nothing in it but what an earlier try has left.
func checkEmpty(dir string) error {
	names, err := regular.Names(dir, 1, func(name string) bool {
		return !strings.HasPrefix(name, markFile+".")
	})
	if err != nil && !errors.Is(err, regular.ErrMany) {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("%w (it has %s)", ErrForeign, names[0])
	}
	return nil
}
