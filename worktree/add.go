package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Add has a folder be the tree of a branch. One that is its tree already is found again, with what has changed in it;
// where the folder is gone the files are written anew, and where what git keeps of it is gone, or its .git, that is. A folder
// that is there and is something else is [ErrForeign], unless it is empty. No file is changed or removed that is there.
func (r *Repository) Add(ctx context.Context, branch, dir string) (*Tree, error) {
	if err := checkBranch(branch); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the folder of a tree has to be absolute, and is %q", dir)
	}
	held, err := r.hold(ctx, branch)
	if err != nil {
		return nil, err
	}
	defer held.free()
	head, err := r.head(ctx, branch)
	if err != nil {
		return nil, err
	}
	if head == "" {
		return nil, fmt.Errorf("%s: %w", branch, ErrNoBranch)
	}
	t := &Tree{repo: r, branch: branch, admin: adminDir(r.dir, branch)}
	if t.dir, err = r.settle(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if err := t.add(ctx, held, head); err != nil {
		return nil, fmt.Errorf("%s: %w", t.dir, err)
	}
	return t, nil
}

// settle returns a folder's path without symlinks. Its parent is made.
func (r *Repository) settle(dir string) (string, error) {
	dir = filepath.Clean(dir)
	parent, err := asuser.Value(r.user, func() (string, error) {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return "", err
		}
		return within.Follow(filepath.Dir(dir))
	})
	if err != nil {
		return "", err
	}
	dir = filepath.Join(parent, filepath.Base(dir))
	if strings.HasPrefix(dir+"/", r.dir+"/") || strings.HasPrefix(r.dir+"/", dir+"/") {
		return "", errors.New("a tree and its repository cannot be in one another")
	}
	return dir, nil
}

// add finds out what is there, and makes what is not.
func (t *Tree) add(ctx context.Context, held *hold, head string) error {
	known, err := t.knownAt()
	if err != nil {
		return err
	}
	there, err := t.stands()
	if err != nil {
		return err
	}
	if known != "" && known != t.dir {
		if err := t.moved(known); err != nil {
			return err
		}
		known = ""
	}
	if there == occupied && known == "" {
		if mine, err := t.isMarked(); err != nil || !mine {
			return errors.Join(err, ErrForeign)
		}
	}
	fresh := there == absent || there == vacant && known == ""
	if fresh { // first of all: what is cut off here has no files yet, which is not to be committed
		if err := t.repo.write(filepath.Join(t.admin, resettingFile), head+"\n"); err != nil {
			return err
		}
	}
	if known == "" {
		if err := t.register(); err != nil {
			return err
		}
	}
	if fresh {
		return t.fill(ctx, held, head)
	}
	if err := t.mark(); err != nil {
		return err
	}
	if err := t.ensureIndex(ctx, held); err != nil {
		return err
	}
	resetting, err := t.repo.read(filepath.Join(t.admin, resettingFile))
	if err == nil && resetting != "" { // it was cut off: what is there is half of it
		return t.reset(ctx, held, head, true)
	}
	return err
}

// What stands where a tree is to be.
type standing int

const (
	absent standing = iota
	vacant          // an empty folder
	occupied
)

func (t *Tree) stands() (standing, error) {
	info, err := t.repo.lstat(t.dir)
	if err != nil {
		return absent, err
	}
	if info == nil {
		return absent, nil
	}
	if !info.IsDir() {
		return absent, fmt.Errorf("%w (it is no folder)", ErrForeign)
	}
	names, err := asuser.Value(t.repo.user, func() ([]string, error) { return regular.Names(t.dir, 1, regular.All) })
	if errors.Is(err, regular.ErrMany) || len(names) > 0 {
		return occupied, nil
	}
	return vacant, err
}

// moved sees that a tree which was elsewhere is not there any more.
func (t *Tree) moved(known string) error {
	info, err := t.repo.lstat(known)
	if err != nil {
		return err
	}
	if info != nil {
		return fmt.Errorf("%w (%s)", ErrElsewhere, known)
	}
	return nil
}

func (t *Tree) markText() string { return "gitdir: " + t.admin + "\n" }

// isMarked reports whether the folder has the .git that we have written. Commands can write into their own folder only what is
// theirs already.
func (t *Tree) isMarked() (bool, error) {
	path := filepath.Join(t.dir, ".git")
	if info, err := t.repo.lstat(path); err != nil || info == nil || !info.Mode().IsRegular() {
		return false, err
	}
	text, err := t.repo.read(path)
	return text == t.markText(), err
}

// mark writes the .git by which commands that use git in the tree find its repository, if there is none. (No git of ours
// reads it.)
func (t *Tree) mark() error {
	return t.repo.user.Do(func() error {
		root, err := regular.Root(t.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		file, err := root.OpenFile(".git", os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
		if errors.Is(err, os.ErrExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = file.WriteString(t.markText())
		return errors.Join(err, file.Close())
	})
}

// register writes the files by which git knows the tree, as gitrepository-layout(5) has them.
func (t *Tree) register() error {
	if err := t.repo.removeFile(filepath.Join(t.admin, indexFile)); err != nil { // it was that of another folder
		return err
	}
	for _, file := range [][2]string{
		{commonFile, "../..\n"},
		{lockedFile, "kept by the runtime\n"},
		{headFile, t.headText()},
		{gitdirFile, t.dir + "/.git\n"},
	} {
		if err := t.repo.write(filepath.Join(t.admin, file[0]), file[1]); err != nil {
			return err
		}
	}
	return nil
}

// fill writes the files of a commit into a folder that is not there, or empty.
func (t *Tree) fill(ctx context.Context, held *hold, head string) error {
	err := t.repo.user.Do(func() error {
		if err := os.Mkdir(t.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.mark(); err != nil {
		return err
	}
	if err := t.repo.removeFile(filepath.Join(t.admin, indexFile)); err != nil {
		return err
	}
	return t.reset(ctx, held, head, false)
}
