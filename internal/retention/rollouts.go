package retention

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// rollouts are the files in which codex keeps its threads.
type rollouts struct {
	home string       // CODEX_HOME
	user *asuser.User // whose it is; nil is ours
}

// remove removes those of threads, and returns those threads whose files stay, each with the reason.
func (r rollouts) remove(threads []string) (left map[string]error, err error) {
	return asuser.Value(r.user, func() (map[string]error, error) { return appserver.RemoveRollouts(r.home, threads) })
}

// sizes are their sizes by session: of names the session that a thread's file counts with.
func (r rollouts) sizes(of func(thread, path string) string) (map[string]int64, error) {
	return asuser.Value(r.user, func() (map[string]int64, error) { return appserver.RolloutSizes(r.home, of) })
}

// sessionOf is the session that the file of a thread says to belong to; empty if that is not written yet.
func sessionOf(path string) string { return appserver.SessionOf(path) }

// isRefusal reports whether codex runs, and has refused what was asked of it.
func isRefusal(err error) bool {
	_, refused := errors.AsType[*appserver.RPCError](err)
	return refused
}

// noCodex reports whether codex does not run, so that it was asked nothing.
func noCodex(err error) bool { return errors.Is(err, codex.ErrNoCodex) }

// inUse reports whether a conversation was not let go since it is used.
func inUse(err error) bool { return errors.Is(err, executor.ErrBusy) || errors.Is(err, store.ErrInUse) }
