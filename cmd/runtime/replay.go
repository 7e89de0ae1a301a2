package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/replay"
)

type replayFlags struct {
	File string        `arg:"" help:"The record."`
	JSON bool          `name:"json" help:"Print JSON, for programs."`
	Wait time.Duration `help:"How long the program may take to do what the record has next. Default: 12s." placeholder:"duration" default:"12s"`
	Log  string        `help:"Show the log of what is played, from this level on: debug, info, warn or error." placeholder:"level"`
}

type relayFlags struct {
	Args []string `arg:"" optional:"" passthrough:""`
}

// replay plays a record. It needs no settings, and reads none.
func (p *program) replay(ctx context.Context, flags replayFlags) int {
	self, err := os.Executable()
	if err != nil {
		return p.unplayed(err)
	}
	cfg := replay.Config{Relay: self, Wait: flags.Wait}
	if flags.Log != "" {
		level, err := logging.Level(flags.Log)
		if err != nil {
			p.complain(err.Error(), "--log takes debug, info, warn or error")
			return exitUsage
		}
		cfg.Logger = logging.New(p.stderr, level, nil)
	}
	report, err := replay.File(ctx, flags.File, cfg)
	if err != nil {
		return p.unplayed(err)
	}
	if flags.JSON {
		if code := p.printJSON(report); code != exitOK {
			return code
		}
	} else {
		p.print(brief.Plain(report.String()))
	}
	if !report.OK {
		return exitFailed
	}
	return exitOK
}

func (p *program) unplayed(err error) int {
	if errors.Is(err, context.Canceled) {
		return exitFailed
	}
	p.complain("replay: "+err.Error(), "RUNTIME_DEBUG_WIRE=FILE makes a record; docs/replay.md says how")
	return exitFailed
}

// relay is the codex of a replay. Only that starts it.
func (p *program) relay() int {
	for _, kv := range p.environ {
		if socket, ok := strings.CutPrefix(kv, replay.SocketEnv+"="); ok {
			return replay.Relay(socket, p.stdin, p.stdout, p.stderr)
		}
	}
	p.complain("app-server is codex's command, and this is no codex", "runtime --help lists the commands; CODEX_BIN names the codex to use")
	return exitUsage
}
