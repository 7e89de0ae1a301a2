package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Reset has the files, and the branch, be as a commit has them. Changes that are in no commit are [ErrDirty], unless they are
// to be discarded; what is ignored stays. A branch that had other commits keeps them as by [Repository.Branch].
//
// No command may be at work in the folder meanwhile: one that puts a link in the place of a folder could have files written
// where that leads.
func (t *Tree) Reset(ctx context.Context, commit string, discard bool) error {
	if err := checkCommit(commit); err != nil {
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
	if known, err := t.repo.known(ctx, commit); err != nil || !known {
		return errors.Join(err, fmt.Errorf("the commit %s is not here: %w", commit, ErrMissing))
	}
	resetting, err := t.repo.read(filepath.Join(t.admin, resettingFile))
	if err != nil {
		return err
	}
	discard = discard || resetting != ""
	if !discard {
		if err := t.checkClean(ctx, held); err != nil {
			return err
		}
	}
	return t.reset(ctx, held, commit, discard)
}

// checkClean returns [ErrDirty] if there is something that a commit would take, or a commit that the branch does not have.
func (t *Tree) checkClean(ctx context.Context, held *hold) error {
	base, err := t.base(ctx)
	if err != nil {
		return err
	}
	if err := t.checkOwnHead(ctx, base); err != nil {
		return err
	}
	q, err := t.repo.quarantine()
	if err != nil {
		return err
	}
	defer q.discard()
	tree, left, err := t.snapshot(ctx, held, q)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%s: %w (%q, for one)", t.dir, ErrDirty, left[0].Path)
	}
	first := ""
	args := []string{"diff-tree", "-r", "-z", "--name-only", base, tree}
	err = t.repo.list(ctx, call{args: args, env: q.env()}, func(path []byte) error {
		first = string(path)
		return errEnough
	})
	if err == nil && first != "" {
		err = fmt.Errorf("%s: %w (%q, for one)", t.dir, ErrDirty, first)
	}
	return err
}

// checkOwnHead sees that what the tree's own HEAD is at is on the branch, or was when the files were last as that.
func (t *Tree) checkOwnHead(ctx context.Context, base string) error {
	own, err := t.ownHead(ctx)
	if err != nil || own == "" {
		return err
	}
	tip, err := t.repo.head(ctx, t.branch)
	if err != nil {
		return err
	}
	for _, have := range []string{base, tip} {
		if in, err := t.repo.contains(ctx, have, own); err != nil || in {
			return err
		}
	}
	return fmt.Errorf("%s: %w (%s, which is not on the branch)", t.dir, ErrDirty, own)
}

// reset has the files be those of a commit, and what git does not know and does not ignore be gone where that is said. If it
// is cut off, it is to be done again: no commit is made of what is half of it.
func (t *Tree) reset(ctx context.Context, held *hold, commit string, clean bool) error {
	if err := t.repo.write(filepath.Join(t.admin, resettingFile), commit+"\n"); err != nil {
		return err
	}
	from, err := t.repo.head(ctx, t.branch)
	if err != nil {
		return err
	}
	if err := t.repo.move(ctx, held, from, commit); err != nil {
		return err
	}
	if err := t.repo.write(filepath.Join(t.admin, headFile), t.headText()); err != nil {
		return err
	}
	if clean { // by what is ignored now, which the commit may have otherwise
		if err := t.clean(ctx, held); err != nil {
			return err
		}
	}
	if _, err := t.repo.text(ctx, t.call(held, "read-tree", "--reset", "-u", commit)); err != nil {
		return err
	}
	for _, file := range []string{behindFile, resettingFile} { // the one that forbids commits last
		if err := t.repo.removeFile(filepath.Join(t.admin, file)); err != nil {
			return err
		}
	}
	return nil
}

// clean removes what git does not know and does not ignore.
func (t *Tree) clean(ctx context.Context, held *hold) error {
	excluded, err := t.repo.read(filepath.Join(t.admin, excludeFile))
	if err != nil {
		return err
	}
	args := []string{"clean", "--quiet", "-ffd"}
	for pattern := range strings.Lines(excluded) {
		args = append(args, "--exclude="+strings.TrimSuffix(pattern, "\n"))
	}
	_, err = t.repo.text(ctx, t.call(held, args...))
	return err
}
