package machine

import (
	"context"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/places"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/trees"
)

// openTrees is what places of git are made by; nil where that cannot be, which is said.
func openTrees(ctx context.Context, cfg Config) places.Trees {
	t, err := trees.New(ctx, trees.Config{
		Repositories: filepath.Join(cfg.Home, "repositories"), Root: cfg.Root, User: cfg.User, Most: mostBundle, Logger: cfg.Logger,
	})
	if err != nil {
		cfg.Logger.Warn("this machine has no folders of git for conversations (RUNTIME_MACHINES_FILES=git)", "err", err)
		return nil
	}
	return t
}
