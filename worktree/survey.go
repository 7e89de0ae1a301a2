package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// submodules returns the folders of those that a commit has.
func (r *Repository) submodules(ctx context.Context, commit string) (found []string, err error) {
	err = r.list(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}}, func(entry []byte) error {
		if bytes.HasPrefix(entry, []byte("160000 ")) {
			_, path, _ := bytes.Cut(entry, []byte("\t"))
			if found = append(found, string(path)); len(found) == mostNamed {
				return errEnough
			}
		}
		return nil
	})
	return found, err
}

// hasLFS reports whether a commit has files that Git LFS keeps.
func (r *Repository) hasLFS(ctx context.Context, commit string) (bool, error) {
	args := []string{"grep", "--quiet", "--no-textconv", "--fixed-strings", "-e", "filter=lfs", commit, "--", ":(top,glob)**/.gitattributes"}
	_, err := r.text(ctx, call{args: args, env: []string{"GIT_LITERAL_PATHSPECS=0"}})
	if codeOf(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// uncommitted returns files of a working copy that are not as its commit has them. The working copy is looked at by a
// repository of ours, with a copy of its index: by its own, git would run what that names.
func (r *Repository) uncommitted(ctx context.Context, q *quarantine, src source, head string) (found []string, err error) {
	if err := copyIndex(r.user, filepath.Join(src.git, "index"), q.path("index")); err != nil {
		return nil, err
	}
	inside := func(args ...string) call {
		return call{args: args, repo: q.path("repo"), work: src.work, env: append(q.env(), "GIT_INDEX_FILE="+q.path("index")), held: q.hold()}
	}
	if _, err := r.text(ctx, inside("update-index", "-q", "--refresh", "--ignore-submodules")); err != nil && codeOf(err) != 1 {
		return nil, err // 1: there are changes
	}
	seen := map[string]bool{}
	for _, args := range [][]string{
		{"diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", head},
		{"diff-files", "--name-only", "-z", "--ignore-submodules=all"},
		{"ls-files", "-z", "--others", "--directory", "--no-empty-directory", "--exclude-standard", "--exclude-from=" + q.path("exclude")},
	} {
		if args[0] == "ls-files" {
			if err := r.copyExclude(src, q); err != nil {
				return found, err
			}
		}
		err := r.list(ctx, inside(args...), func(path []byte) error {
			if !seen[string(path)] {
				seen[string(path)] = true
				found = append(found, string(path))
			}
			if len(found) >= mostNamed {
				return errEnough
			}
			return nil
		})
		if err != nil || len(found) >= mostNamed {
			return found, err
		}
	}
	return found, nil
}

// copyExclude copies what a source ignores by its own settings.
func (r *Repository) copyExclude(src source, q *quarantine) error {
	text, err := r.read(filepath.Join(src.git, "info/exclude"))
	if err != nil {
		return err
	}
	return r.write(q.path("exclude"), text)
}

// mostIndex is how large an index is that is copied.
const mostIndex = 1 << 30

// copyIndex copies the index of a repository, as it is at the moment. One that is not there stays that.
func copyIndex(user *asuser.User, from, to string) error {
	return user.Do(func() error {
		in, info, err := regular.Open(from)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer in.Close()
		if info.Size() > mostIndex {
			return ErrTooLarge
		}
		out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, &io.LimitedReader{R: in, N: mostIndex})
		return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime())) // git tells by it what may have changed since
	})
}
