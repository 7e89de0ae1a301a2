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

// checkClean returns [ErrDirty] if the files are not those of the commit that they belong to.
func (t *Tree) checkClean(ctx context.Context, held *hold) error {
	base, err := t.base(ctx)
	if err != nil {
		return err
	}
	if err := t.ensureIndex(ctx, held); err != nil {
		return err
	}
	if own, err := t.ownHead(ctx); err != nil {
		return err
	} else if own != "" {
		if in, err := t.repo.contains(ctx, base, own); err != nil || !in {
			return errors.Join(err, fmt.Errorf("%s: %w (%s, which is not on the branch)", t.dir, ErrDirty, own))
		}
	}
	if _, err := t.repo.text(ctx, t.call(held, "update-index", "-q", "--refresh", "--ignore-submodules")); err != nil && codeOf(err) != 1 {
		return err
	}
	for _, args := range [][]string{
		{"diff-files", "--name-only", "-z", "--ignore-submodules=all"},
		t.untracked(),
		{"diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", base},
	} {
		err := t.repo.list(ctx, t.call(held, args...), func(path []byte) error {
			return fmt.Errorf("%s: %w (%q, for one)", t.dir, ErrDirty, path)
		})
		if err != nil {
			return err
		}
	}
	return nil
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
