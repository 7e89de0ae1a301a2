package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// A Tree is a folder that has the files of a branch. Its methods may be called concurrently.
type Tree struct {
	repo   *Repository
	branch string
	dir    string
	admin  string // the folder in the repository in which git keeps what it knows of the tree
}

// Dir is the folder, without symlinks.
func (t *Tree) Dir() string { return t.dir }

// Branch is the branch that its commits go to.
func (t *Tree) Branch() string { return t.branch }

// The files by which git knows a tree, in the folder that the repository has for it. The last of them that is written
// makes it one.
const (
	headFile    = "HEAD"
	commonFile  = "commondir"
	lockedFile  = "locked" // nothing prunes it
	gitdirFile  = "gitdir"
	indexFile   = "index"
	excludeFile = "runtime-exclude"
)

// Remove takes the tree away with all that is in its folder, also what is in no commit. The branch stays.
func (t *Tree) Remove(ctx context.Context) error {
	held, err := t.repo.hold(ctx, t.branch)
	if err != nil {
		return err
	}
	defer held.free()
	known, err := t.knownAt()
	if err != nil {
		return err
	}
	if known != t.dir {
		return nil // it is not there any more, or another one
	}
	return t.repo.user.Do(func() error {
		if err := remove.All(t.dir); err != nil {
			return fmt.Errorf("%s: %w", t.dir, err)
		}
		return remove.All(t.admin)
	})
}

// Exclude has no commit of the tree take untracked files that patterns match, as in a .gitignore; none has it take all.
// Commands that use git in the tree do not see them: see [Config.Exclude].
func (t *Tree) Exclude(list ...string) error {
	if err := t.check(); err != nil {
		return err
	}
	return t.repo.write(filepath.Join(t.admin, excludeFile), patterns(list))
}

// knownAt returns the folder that git has for the branch; nothing if there is none.
func (t *Tree) knownAt() (string, error) {
	text, err := t.repo.read(filepath.Join(t.admin, gitdirFile))
	if err != nil {
		return "", err
	}
	dir, whole := strings.CutSuffix(strings.TrimSpace(text), "/.git")
	if !whole {
		return "", nil
	}
	return dir, nil
}

func (t *Tree) headText() string { return "ref: " + heads + "/" + t.branch + "\n" }

// call is a command that works on the tree.
func (t *Tree) call(held *hold, args ...string) call {
	return call{args: args, repo: t.admin, work: t.dir, held: held}
}

// check sees that the folder is there, and the file that git wants of what is excluded.
func (t *Tree) check() error {
	known, err := t.knownAt()
	if err != nil {
		return err
	}
	info, err := t.repo.lstat(t.dir)
	if err != nil {
		return err
	}
	if known != t.dir || info == nil || !info.IsDir() {
		return fmt.Errorf("%s: the tree is not there any more: add it again", t.dir)
	}
	if info, err := t.repo.lstat(filepath.Join(t.admin, excludeFile)); err != nil || info != nil {
		return err
	}
	return t.repo.write(filepath.Join(t.admin, excludeFile), "")
}

// ensureIndex makes an index anew that is not there. The files are not touched.
func (t *Tree) ensureIndex(ctx context.Context, held *hold) error {
	info, err := t.repo.lstat(filepath.Join(t.admin, indexFile))
	if err != nil || info != nil {
		return err
	}
	base, err := t.base(ctx)
	if err != nil {
		return err
	}
	_, err = t.repo.text(ctx, t.call(held, "read-tree", base))
	return err
}

// base is the commit that the files belong to.
func (t *Tree) base(ctx context.Context) (string, error) {
	behind, err := t.repo.read(filepath.Join(t.admin, behindFile))
	if err != nil {
		return "", err
	}
	if behind = strings.TrimSpace(behind); behind != "" {
		return behind, checkCommit(behind)
	}
	head, err := t.repo.head(ctx, t.branch)
	if err == nil && head == "" {
		err = ErrNoBranch
	}
	return head, err
}

// untracked are the arguments for a list of what git does not know and does not ignore.
func (t *Tree) untracked() []string {
	return []string{"ls-files", "-z", "--others", "--exclude-standard", "--exclude-from=" + filepath.Join(t.admin, excludeFile)}
}

// ownHead returns the commit that the tree's own HEAD is at. Commands that use git in the tree may have led it elsewhere
// than to the branch; nothing if that is to no commit.
func (t *Tree) ownHead(ctx context.Context) (string, error) {
	said, err := t.repo.text(ctx, t.call(nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
	if codeOf(err) > 0 {
		return "", nil // it may be that of a branch with no commit yet, or no HEAD at all
	}
	return said, err
}
