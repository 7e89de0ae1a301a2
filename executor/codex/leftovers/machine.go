package leftovers

import (
	"context"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// A Machine is one that commands run on, other than this.
type Machine interface {
	Commands(ctx context.Context) ([]commands.Command, error)
	End(ctx context.Context, all []commands.Command) error
}

// EndOn ends what matches on a machine until nothing does. Without an error nothing that matches runs there.
func EndOn(ctx context.Context, on Machine, match func(commands.Command) bool) error {
	for {
		all, err := on.Commands(ctx)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(c commands.Command) bool { return !match(c) })
		if len(all) == 0 {
			return nil
		}
		if err := on.End(ctx, all); err != nil {
			return err
		}
		if !sleep.For(ctx, Every) {
			return context.Cause(ctx)
		}
	}
}
