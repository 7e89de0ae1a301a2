package worktree

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// A quarantine is a folder for objects that are not known to be whole, or that nothing is to be left of. Git finds what
// the repository has from there, and puts nothing into the repository.
type quarantine struct {
	git  *git
	dir  string
	lock *os.File // while it is in use
}

// lockSuffix stands behind the name of a quarantine in that of its lock.
const lockSuffix = ".lock"

// quarantine makes one. Its lock comes first, beside it: a folder whose lock is free is one that was left.
func (g *git) quarantine() (*quarantine, error) {
	q := &quarantine{git: g, dir: filepath.Join(g.dir, incomingDir, rand.Text())}
	err := g.user.Do(func() (err error) {
		if q.lock, err = tryFile(nil, q.dir+lockSuffix); err != nil {
			return err
		}
		if err := os.MkdirAll(q.path("objects/info"), 0o700); err != nil {
			return err
		}
		return os.WriteFile(q.path("objects/info/alternates"), []byte(filepath.Join(g.dir, "objects")+"\n"), 0o600)
	})
	if err != nil {
		q.discard()
		return nil, fmt.Errorf("a folder for what comes in: %w", err)
	}
	return q, nil
}

func (q *quarantine) path(name string) string { return filepath.Join(q.dir, name) }

// env has git put objects into the quarantine. (The repository's are found by the alternates that it names.)
func (q *quarantine) env() []string { return []string{"GIT_OBJECT_DIRECTORY=" + q.path("objects")} }

// hold has a git that works in the quarantine keep it, also where we are killed meanwhile.
func (q *quarantine) hold() *hold { return &hold{name: q.dir, file: q.lock} }

// discard takes the quarantine away with all that is in it.
func (q *quarantine) discard() {
	if q.lock == nil {
		return
	}
	defer q.lock.Close()
	err := q.git.user.Do(func() error { return removeQuarantine(q.dir) })
	if err != nil {
		q.git.log.Warn("a folder for what comes in could not be removed: it is when the repository is opened again", "path", q.dir, "err", err)
	}
}

func removeQuarantine(dir string) error {
	if err := remove.All(dir); err != nil {
		return err
	}
	return os.Remove(dir + lockSuffix)
}

// accept puts the packs of the quarantine into the repository. The index of each comes last: by it git finds the pack.
func (q *quarantine) accept() error {
	return q.git.user.Do(func() error {
		from, to := q.path("objects/pack"), filepath.Join(q.git.dir, "objects/pack")
		const most = 100
		names, err := regular.Names(from, most, func(name string) bool { return strings.HasPrefix(name, "pack-") })
		if errors.Is(err, os.ErrNotExist) {
			return nil // all was here already
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		slices.SortStableFunc(names, func(a, b string) int { return order(a) - order(b) })
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
				continue // a pack's name is that of its content
			}
			if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

func order(name string) int {
	switch filepath.Ext(name) {
	case ".pack":
		return 0
	case ".idx":
		return 2
	}
	return 1
}

// clearIncoming takes away what no process is at work on any more.
func (g *git) clearIncoming() error {
	return g.user.Do(func() error {
		parent := filepath.Join(g.dir, incomingDir)
		err := regular.Each(parent, func(name string) error {
			dir := filepath.Join(parent, strings.TrimSuffix(name, lockSuffix))
			lock, err := tryFile(nil, dir+lockSuffix)
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil
			}
			if err != nil {
				return err
			}
			defer lock.Close()
			return removeQuarantine(dir)
		})
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
}
