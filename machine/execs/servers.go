// Package execs runs codex's exec-servers for the runtimes that a machine works for, and ends what they leave running.
//
// # Ownership
//
// A [Server] is what runs for one stay of a runtime: one exec-server at a time, in a session of its own, started on first
// need and again when it ends. Whose a process is stands in its environment ([commands.MarkVariable]): the id of the
// machine, a slash, and the id of the runtime. What an exec-server has started is killed with it, whether it has ended by
// itself or not: processes in its group, and all that have the mark, again and again until none is left.
//
// When the machine is killed, the kernel kills its exec-servers; what those had started is ended by the next life of the
// machine ([Servers.Sweep]).
//
// All methods may be called concurrently.
package execs

import (
	"log/slog"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A Config says how exec-servers run.
type Config struct {
	Machine string       // the id of this machine
	Bin     string       // codex
	Env     []string     // of exec-servers and their commands, without CODEX_HOME and the mark
	Home    string       // a folder for their CODEX_HOMEs, one for each runtime; what is above it is there
	User    *asuser.User // that they run as; nil is ours
	Started func()       // hears of each start
	Ended   func(n int)  // hears how many processes were killed that exec-servers have left
	Logger  *slog.Logger
}

// Servers are the exec-servers of a machine. Create them with [New].
type Servers struct {
	cfg  Config
	log  *slog.Logger
	last atomic.Int64 // the number of the exec-server that was started last
}

// New returns servers of which none runs.
func New(cfg Config) *Servers { return &Servers{cfg: cfg, log: cfg.Logger} }

// Mark is what stands in the environment of all that runs for a runtime.
func (s *Servers) Mark(runtime string) string { return s.cfg.Machine + "/" + runtime }
