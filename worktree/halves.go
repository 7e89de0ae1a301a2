package worktree

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// halfPacks are files that git has begun to write for a commit, and takes away only when it ends in order. With no room they may
// be all that there was.
const halfPacks = "objects/pack/tmp_*"

// noRoom is how the system says that a disk is full.
const noRoom = "No space left on device"

// Failed makes room where a commit has failed for want of it.
func (t *Tree) Failed(err error) {
	if err != nil && strings.Contains(err.Error(), noRoom) {
		t.repo.clearHalves(halfPacks)
	}
}

// clearHalves takes away what git has left that was killed, or found no room. What stays is taken away another time: a git whose
// parent was killed may still be at work on it.
func (g *git) clearHalves(patterns ...string) {
	err := g.user.Do(func() error {
		var failed error
		for _, pattern := range patterns {
			found, err := filepath.Glob(filepath.Join(g.dir, pattern))
			failed = errors.Join(failed, err)
			for _, path := range found {
				failed = errors.Join(failed, remove.All(path))
			}
		}
		return failed
	})
	if err != nil {
		g.log.Warn("what git has left half written could not be removed", "err", err)
	}
}
