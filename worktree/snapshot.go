package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// snapshot returns the tree of what a commit would take, whose objects are in the quarantine. Nothing of the tree's own is
// changed, nor of the repository's.
func (t *Tree) snapshot(ctx context.Context, held *hold, q *quarantine) (tree string, left []Left, err error) {
	if err := copyIndex(t.repo.user, filepath.Join(t.admin, indexFile), q.path("index")); err != nil {
		return "", nil, err
	}
	s := &staging{tree: t, held: held, index: q.path("index"), env: append(q.env(), "GIT_INDEX_FILE="+q.path("index"))}
	tree, err = s.run(ctx, true)
	if err != nil {
		err = fmt.Errorf("%s: %w", t.dir, err)
	}
	return tree, s.left, err
}

// Diff writes how the files differ from a commit, as a patch: all that [Tree.Commit] would take, whether it is in a commit or
// not. Nothing is changed by it; what cannot be committed is not shown.
func (t *Tree) Diff(ctx context.Context, w io.Writer, since string) error {
	if err := checkCommit(since); err != nil {
		return err
	}
	held, err := t.repo.hold(ctx, t.branch)
	if err != nil {
		return err
	}
	defer held.free()
	if err := t.check(); err != nil {
		return err
	}
	if known, err := t.repo.known(ctx, since); err != nil || !known {
		return errors.Join(err, fmt.Errorf("the commit %s is not here: %w", since, ErrMissing))
	}
	q, err := t.repo.quarantine()
	if err != nil {
		return err
	}
	defer q.discard()
	tree, _, err := t.snapshot(ctx, held, q)
	if err != nil {
		return err
	}
	args := []string{"diff-tree", "-p", "-r", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--submodule=short", since, tree}
	return t.repo.run(ctx, call{args: args, env: q.env(), output: w})
}
