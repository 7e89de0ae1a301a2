package worktree

import (
	"context"
	"fmt"
	"path/filepath"
)

// A Change is what a commit says of itself.
type Change struct {
	Message string
	Author  string // "Name <address>"
	// Partly has files be left out that cannot be taken: too large, or not to be read. Without, they are a [*FilesError],
	// and nothing is committed.
	Partly bool
}

// A Committed is what a commit has come to.
type Committed struct {
	Head    string // that the branch stands at
	Changed bool   // whether it stood elsewhere before
	// Nested are folders that have a git repository of their own, and were not known yet. Their files are in the commit, as
	// any others; what is in their .git is not.
	Nested []string
	// Submodules are those of the repository that have files. These stay where they are: the commit has the submodules'
	// own commits, as before.
	Submodules []string
	Left       []Left // with [Change.Partly]
}

// Commit makes one commit of all that has changed: untracked files, too, but for what is ignored or excluded. If nothing has,
// there is none. It is all or nothing, and the files are only read.
//
// Commits that commands have made in the tree by themselves are kept, on whatever branch: the new one builds on them, too.
// [ErrBehind] says that the branch was moved ([Repository.Absorb]) and the files were not.
func (t *Tree) Commit(ctx context.Context, change Change) (done Committed, err error) {
	if _, err := signed(change.Author); err != nil {
		return done, err
	}
	held, err := t.repo.hold(ctx, t.branch)
	if err != nil {
		return done, err
	}
	defer held.free()
	if err := t.check(); err != nil {
		return done, err
	}
	for _, file := range []string{behindFile, resettingFile} {
		if noted, err := t.repo.read(filepath.Join(t.admin, file)); err != nil || noted != "" {
			return done, orElse(err, fmt.Errorf("%s: %w", t.dir, ErrBehind))
		}
	}
	s := &staging{tree: t, held: held, index: filepath.Join(t.admin, indexFile)}
	tree, err := s.run(ctx, change.Partly)
	if err != nil {
		return done, fmt.Errorf("%s: %w", t.dir, err)
	}
	done.Nested, done.Submodules, done.Left = s.nested, s.submodul, s.left
	done.Head, done.Changed, err = t.commit(ctx, held, tree, change)
	return done, err
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// commit puts a tree of files onto the branch.
func (t *Tree) commit(ctx context.Context, held *hold, tree string, change Change) (head string, changed bool, err error) {
	tip, err := t.repo.head(ctx, t.branch)
	if err != nil {
		return "", false, err
	}
	if tip == "" {
		return "", false, fmt.Errorf("%s: %w", t.branch, ErrNoBranch)
	}
	parents, err := t.parents(ctx, tip)
	if err != nil {
		return "", false, err
	}
	next := parents[0]
	same, err := t.repo.text(ctx, call{args: []string{"rev-parse", "--verify", next + "^{tree}"}})
	if err != nil {
		return "", false, err
	}
	if same != tree || len(parents) > 1 {
		if next, err = t.repo.commitTree(ctx, held, tree, parents, change.Message, change.Author, ""); err != nil {
			return "", false, err
		}
	}
	return next, next != tip, t.repo.move(ctx, held, tip, next)
}

// parents are the branch's commit and the one that the tree's own HEAD is at, without the one that the other builds on.
func (t *Tree) parents(ctx context.Context, tip string) ([]string, error) {
	own, err := t.ownHead(ctx)
	if err != nil || own == "" || own == tip {
		return []string{tip}, err
	}
	if in, err := t.repo.contains(ctx, tip, own); err != nil || in {
		return []string{tip}, err
	}
	if in, err := t.repo.contains(ctx, own, tip); err != nil || in {
		return []string{own}, err
	}
	return []string{tip, own}, nil
}
