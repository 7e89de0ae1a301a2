package worktree

import (
	"context"
	"errors"
	"fmt"
)

// tidyEvery is after how many turns it is looked whether a repository is to be tidied.
const tidyEvery = 64

// TurnKept notes that a turn was kept in the repository, which is tidied now and then. A failure is logged.
func (r *Repository) TurnKept(ctx context.Context) {
	if r.turns.Add(1)%tidyEvery != 0 {
		return
	}
	if err := r.Tidy(ctx); err != nil && !errors.Is(err, context.Canceled) {
		r.log.Warn("a repository of conversations could not be packed anew", "err", err)
	}
}

// What a repository has at most before it is worth to be packed anew.
const (
	looseObjects = 5000
	packs        = 50
)

// Tidy packs the repository anew if many turns have left much in it, which takes a while then, and removes what nothing
// leads to and is older than two weeks. Other work may go on.
func (r *Repository) Tidy(ctx context.Context) error {
	shared, err := r.hold(ctx, "")
	if err != nil {
		return err
	}
	defer shared.free()
	_, err = r.text(ctx, call{held: shared, args: []string{
		"-c", fmt.Sprintf("gc.auto=%d", looseObjects), "-c", fmt.Sprintf("gc.autoPackLimit=%d", packs),
		"-c", "gc.autoDetach=false", "-c", "gc.worktreePruneExpire=never", "gc", "--auto", "--quiet",
	}})
	return err
}
