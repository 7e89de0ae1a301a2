package retention

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// isRefusal reports whether codex runs, and has refused what was asked of it.
func isRefusal(err error) bool {
	_, refused := errors.AsType[codex.RefusedError](err)
	return refused
}

// noCodex reports whether codex does not run, so that it was asked nothing.
func noCodex(err error) bool { return errors.Is(err, codex.ErrNoCodex) }

// inUse reports whether a conversation was not let go since it is used.
func inUse(err error) bool { return errors.Is(err, executor.ErrBusy) || errors.Is(err, store.ErrInUse) }
