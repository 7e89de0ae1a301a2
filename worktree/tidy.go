package worktree

import (
	"context"
	"fmt"
)

// What a repository has at most before it is worth to be packed anew.
const (
	looseObjects = 5000
	packs        = 50
)

// Tidy packs the repository anew if many turns have left much in it, which takes a while then, and removes what nothing
// leads to and is older than two weeks. Other work may go on. It is to be called now and then.
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
