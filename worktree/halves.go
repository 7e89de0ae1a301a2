package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// halves are files that git has begun to write into the repository, and takes away only when it ends in order.
var halves = []string{"objects/pack/tmp_*", "objects/tmp_*", "objects/??/tmp_obj_*"} //nolint:gochecknoglobals // a constant table

// noRoom is how the system says that a disk is full.
const noRoom = "No space left on device"

// Failed makes room where a commit has failed for want of it: what git had written by then may be all that there was.
func (t *Tree) Failed(err error) {
	if err == nil || !strings.Contains(err.Error(), noRoom) {
		return
	}
	if err := t.repo.clearHalves(); err != nil {
		t.repo.log.Warn("what a commit has left that found no room could not be removed", "err", err)
	}
}

// clearHalves takes away what git has left that was killed, or found no room.
func (g *git) clearHalves() error {
	return g.user.Do(func() error {
		var failed error
		for _, pattern := range halves {
			found, err := filepath.Glob(filepath.Join(g.dir, pattern))
			failed = errors.Join(failed, err)
			for _, path := range found {
				if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
					failed = errors.Join(failed, err)
				}
			}
		}
		return failed
	})
}
