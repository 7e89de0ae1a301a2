package machine

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

const (
	// factsFor is how long it is not looked again how loaded the machine is.
	factsFor = wire.Beat / 2
	// troubledEvery is how often it is looked whether a trouble has passed, and whether disks have room; fineEvery whether there
	// is another one.
	troubledEvery = 5 * time.Second
	fineEvery     = time.Minute
)

// An about is what a machine says of itself.
type about struct {
	fixed wire.Status // what does not change
	root  string

	mu    sync.Mutex // guards the fields below
	codex string
	facts facts
	at    time.Time
}

// facts are how loaded a machine is.
type facts struct {
	load             float64
	memory, freeDisk int64
	disk, readOnly   bool // the disk is known; and cannot be written
}

func newAbout(cfg Config, files []string) *about {
	return &about{root: cfg.Root, fixed: wire.Status{
		Name: cfg.Name, Life: newLife(), Labels: cfg.Labels, Files: files, Roots: []string{within.Real(cfg.Root)},
		Runtime: cfg.Version, Turns: cfg.Turns, CPUs: runtime.NumCPU(),
	}}
}

// status is how the machine stands, as a tenant sees it.
func (a *about) status(now tenancy.Snapshot) wire.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.at) > factsFor {
		a.facts, a.at = look(a.root), time.Now()
	}
	s := a.fixed
	s.Exec, s.Taken, s.Mine, s.Runtimes, s.Draining, s.Trouble = now.Exec, now.Taken, now.Mine, now.Runtimes, now.Draining, now.Trouble
	s.Codex, s.Load, s.Memory, s.FreeDisk = a.codex, a.facts.load, a.facts.memory, a.facts.freeDisk
	return s
}

// A healer looks whether the machine can run commands. Its methods are called by one goroutine at a time.
type healer struct {
	*front
	cfg  Config
	home string    // for codex, where it is only asked
	last string    // what the trouble was
	at   time.Time // of the last look
}

// keep looks again and again, until ctx ends.
func (h *healer) keep(ctx context.Context) {
	for sleep.For(ctx, troubledEvery) {
		if h.last != "" || time.Since(h.at) >= fineEvery || h.lacksRoom() != "" {
			h.look(ctx)
		}
	}
}

// look looks whether there is a trouble, and says it where it is another one than before.
func (h *healer) look(ctx context.Context) {
	why := h.trouble(ctx)
	h.at = time.Now()
	switch {
	case ctx.Err() != nil || why == h.last:
		return
	case why == "":
		h.log.Info("this machine takes turns again")
	default:
		h.log.Error("this machine takes no turns", "trouble", why)
	}
	h.last = why
	h.tenants.Trouble(why)
}

// trouble says why the machine cannot run commands, and what to do.
func (h *healer) trouble(ctx context.Context) string {
	if info, err := os.Stat(h.cfg.Root); err != nil || !info.IsDir() {
		return "the folder of this machine, " + h.cfg.Root + ", is not there: make it, or set RUNTIME_MACHINE_ROOT to another one"
	}
	if why := h.lacksRoom(); why != "" {
		return why
	}
	version, why := h.servers.Able(ctx, h.home)
	if why != "" {
		return why
	}
	h.about.mu.Lock()
	h.about.codex = version
	h.about.mu.Unlock()
	probe := preflight.SandboxProbe{Bin: h.cfg.Bin, Mode: h.cfg.Sandbox, Env: append(slices.Clip(h.cfg.Env), "CODEX_HOME="+h.home), Home: h.home, User: h.cfg.User}
	if got := preflight.Sandbox(probe).Do(ctx); got.Status == preflight.Fail {
		return "the sandbox of commands: " + got.Detail + ": " + got.Fix
	}
	return ""
}
