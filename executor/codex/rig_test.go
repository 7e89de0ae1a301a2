package codex_test

import (
	"log/slog"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

type (
	schedulerConfig = executor.Config
	driverConfig    = codex.Config
)

// A config is that of an executor and of the driver that works for it. What both have stands here.
type config struct {
	schedulerConfig
	driverConfig
	Journal journal
	Metrics metrics
	Logger  *slog.Logger
}

type journal interface {
	executor.Journal
	codex.Journal
}

type metrics interface {
	executor.Metrics
	codex.Metrics
}

// nowhere is a codex that cannot be started.
func nowhere(bin string) driverConfig { return driverConfig{Child: codex.Process{Bin: bin}} }

// A rig is an executor and the driver that works for it.
type rig struct {
	*executor.Executor
	below
}

// The below keeps the methods of the driver below those of the executor.
type below struct{ *codex.Driver }

func newRig(cfg config) *rig {
	s, d := cfg.schedulerConfig, cfg.driverConfig
	s.Logger, d.Logger = cfg.Logger, cfg.Logger
	if cfg.Journal != nil {
		s.Journal, d.Journal = cfg.Journal, cfg.Journal
	}
	if cfg.Metrics != nil {
		s.Metrics, d.Metrics = cfg.Metrics, cfg.Metrics
	}
	driver := codex.New(d)
	return &rig{executor.New(s, driver), below{driver}}
}
