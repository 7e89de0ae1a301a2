package child

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// A Launch is what may differ from one start of codex to the next.
type Launch struct {
	Args, Env   []string // of the child
	Model       string   // that threads are started with; empty leaves it to codex
	KeyVariable string   // names the environment variable that the key comes from
	// Loaded are places that codex loads programs from outside of the sandbox: commands
	// must not be able to write them, as those that are set apart in the configuration.
	Loaded []within.Place
	// Written are directories that the user's configuration lets commands write in their sandbox,
	// beside the working directory and the temp directory.
	Written []string
	// Thread returns codex's configuration for a thread that is loaded now, above that of Args. It
	// must answer soon; nil is none.
	Thread func() map[string]any
	// Oversized returns a file of instructions that is too large for codex to read, of those that
	// it would read for turns in dir; empty is none. It must answer soon; nil finds none.
	Oversized func(dir string) string
	// Unreadable says why no conversation must be loaded now; empty if nothing is in the way. It
	// must answer soon; nil finds nothing.
	Unreadable func() string
	// Temp are the temp directory of commands, and what else they write in every sandbox that
	// writes; none if they have codex's own, TMPDIR of Env.
	Temp []string

	// Fit looks at the codex that starts meanwhile. Nil takes each one.
	Fit func(context.Context) Verdict

	// ModelProvider is the one that threads are to ask, by codex's name for it: a thread
	// that was begun with another would go on asking that. Empty leaves it to codex.
	ModelProvider string
}

// Unready is an error of [Config].Prepare whose text is meant for the sender of a
// message: it says what to do.
type Unready string

func (u Unready) Error() string { return string(u) }
