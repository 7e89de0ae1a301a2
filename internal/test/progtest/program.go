package progtest

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A Program is one process of the runtime. What it works on outlives it:
// [Program.Restart] starts another one there.
type Program struct {
	URL   string
	Work  string    // its working directory
	Home  string    // its CODEX_HOME
	State string    // its RUNTIME_STATE_DIR
	Born  time.Time // when it was about to be started

	tb        testing.TB
	binary    string
	args      []string
	env       []string
	cmd       *exec.Cmd
	listening chan string
	exited    chan struct{}
	ending    sync.Once

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// Start runs binary serve until the test ends and waits until it listens.
// Settings are NAME=value; later ones win, and name the directories to be used
// in place of fresh ones.
func Start(tb testing.TB, binary string, settings ...string) *Program {
	tb.Helper()
	p := Launch(tb, binary, []string{"serve"}, settings...)
	p.AwaitListening()
	return p
}

// Launch is Start with other arguments, and without the waiting.
func Launch(tb testing.TB, binary string, args []string, settings ...string) *Program {
	tb.Helper()
	p := &Program{
		tb: tb, binary: binary, args: args,
		Work: codextest.Dir(tb, "work"), Home: codextest.Home(tb), State: codextest.Dir(tb, "state"),
	}
	for _, setting := range settings {
		if dir, ok := strings.CutPrefix(setting, "RUNTIME_STATE_DIR="); ok {
			p.State = dir
		}
	}
	p.env = append(Environ(tb),
		"CODEX_BIN="+codextest.Bin(tb), "CODEX_HOME="+p.Home,
		"RUNTIME_ADDR=127.0.0.1:0", "RUNTIME_STATE_DIR="+p.State, "RUNTIME_WORKDIR="+p.Work)
	p.env = append(p.env, settings...)
	p.launch()
	return p
}

// Environ is the environment of the program.
func (p *Program) Environ() []string { return slices.Clone(p.env) }

// Restart starts the program again where this one has ended, and waits until it listens.
func (p *Program) Restart() *Program {
	p.tb.Helper()
	next := p.Relaunch()
	next.AwaitListening()
	return next
}

// Relaunch is Restart without the waiting.
func (p *Program) Relaunch() *Program {
	p.tb.Helper()
	next := &Program{Work: p.Work, Home: p.Home, State: p.State, tb: p.tb, binary: p.binary, args: p.args, env: p.env}
	next.launch()
	return next
}

func (p *Program) launch() {
	p.tb.Helper()
	p.exited, p.listening = make(chan struct{}), make(chan string, 1)
	p.cmd = exec.Command(p.binary, p.args...)
	p.cmd.Env = p.env
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.tb.Fatal(err)
	}
	p.Born = time.Now()
	if err := p.cmd.Start(); err != nil {
		p.tb.Fatal(err)
	}
	go p.follow(stderr, p.listening)
	p.tb.Cleanup(func() {
		p.Stop()
		if p.tb.Failed() {
			p.tb.Logf("the log of the program, process %d:\n%s", p.Pid(), p.Log())
		}
	})
}

// AwaitListening waits until the program listens and sets its URL.
func (p *Program) AwaitListening() {
	p.tb.Helper()
	select {
	case addr := <-p.listening:
		p.URL = "http://" + addr
	case <-p.exited:
		p.tb.Fatalf("the program ended before it listened:\n%s", p.Log())
	case <-time.After(Patience):
		p.tb.Fatalf("the program does not listen:\n%s", p.Log())
	}
}

// Rival runs the program once more beside this one, on the same directories, and
// returns what it has logged when it has ended, and its exit code.
func (p *Program) Rival() (log string, code int) {
	p.tb.Helper()
	next := p.Relaunch()
	select {
	case <-next.exited:
	case <-time.After(Patience):
		p.tb.Fatalf("the second program has not ended:\n%s", next.Log())
	}
	return next.Log(), next.cmd.ProcessState.ExitCode()
}

// Command runs the program once with other arguments, on the same settings, and returns
// what it has printed and its exit code.
func (p *Program) Command(args ...string) (out string, code int) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Env = p.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		p.tb.Fatal(err)
	}
	if stderr.Len() > 0 {
		p.tb.Logf("%v: %s", args, stderr.String())
	}
	return string(printed), cmd.ProcessState.ExitCode()
}
