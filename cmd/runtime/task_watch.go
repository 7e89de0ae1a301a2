package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/mattn/go-isatty"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge/terminal"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
)

// watch shows a task until it has ended. As JSON it is a line for each event, as A2A
// has it, and at last the answer to status.
func (p *program) watch(ctx context.Context, client *bridge.Client, of taskWatch) int {
	if p.place() && !of.JSON && !of.Verbose {
		return p.work(ctx, client, of.ID, of.Plain)
	}
	ctx, release := untilQuit(ctx)
	defer release()
	id, asJSON := of.ID, of.JSON
	printer := &bridge.Printer{Out: p.stdout, ID: id, Color: logging.IsTerminal(p.stdout), Verbose: of.Verbose}
	see := printer.Event
	if asJSON {
		see = func(e a2a.Event) { _ = json.NewEncoder(p.json()).Encode(a2a.StreamResponse{Event: e}) }
	}
	end, err := client.Watch(ctx, id, bridge.Sight{Event: see})
	if _, gone := errors.AsType[*bridge.UnknownError](err); gone {
		return p.answer(bridge.FailureAnswer{Error: err.Error()}, asJSON)
	}
	if err != nil {
		return p.taskFailed(err, asJSON)
	}
	if asJSON {
		answer, err := client.Do(ctx, bridge.Args{Action: "status", TaskID: id})
		if err != nil {
			return p.taskFailed(err, asJSON)
		}
		if code := p.answer(answer, asJSON); code != exitOK {
			return code
		}
	} else {
		printer.End(end)
	}
	return p.ended(end)
}

// ended is the exit code of a task that has.
func (p *program) ended(end *bridge.Task) int {
	if end.Status != bridge.Completed {
		return exitFailed
	}
	return exitOK
}

// place reports whether a person can work here: whether what is read and written is a terminal.
func (p *program) place() bool {
	in, ok := p.stdin.(*os.File)
	return ok && isatty.IsTerminal(in.Fd()) && logging.IsTerminal(p.stdout)
}

// work has a person work at a task until it has ended, or they leave.
func (p *program) work(ctx context.Context, client *bridge.Client, id string, plain bool) int {
	known, code := p.known(ctx, client, id)
	if known == nil {
		return code
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal gets back the mode that it had
	defer stop()
	end, err := terminal.Run(ctx, terminal.Config{
		Runtime: client, Task: known, In: p.stdin, Out: p.stdout, Environ: p.environ, Plain: plain, Interrupted: quitOf(ctx),
	})
	if errors.Is(err, terminal.ErrLeft) {
		_, _ = fmt.Fprintf(p.stderr, "runtime: %s goes on without you\n  hint: runtime task watch %s comes back to it\n", id, id)
		return exitFailed
	}
	if err != nil {
		return p.taskFailed(err, false)
	}
	return p.ended(end)
}

// known is a task as it is, or nil and the exit code.
func (p *program) known(ctx context.Context, client *bridge.Client, id string) (*bridge.Task, int) {
	ctx, release := untilQuit(ctx)
	defer release()
	answer, err := client.Do(ctx, bridge.Args{Action: "status", TaskID: id})
	if err != nil {
		return nil, p.taskFailed(err, false)
	}
	if known, ok := answer.(bridge.TaskAnswer); ok {
		return known.Task, exitOK
	}
	return nil, p.answer(answer, false)
}

// attach works at a task that is there, and tells it the prompt first.
func (p *program) attach(ctx context.Context, client *bridge.Client, s taskStart) int {
	if problem := s.beside(); problem != "" {
		p.complain(problem, "runtime task start --help")
		return exitUsage
	}
	if len(s.Prompt) > 0 {
		hurried, release := untilQuit(ctx)
		_, err := client.Do(hurried, bridge.Args{Action: "steer", TaskID: *s.Attach, Instruction: strings.Join(s.Prompt, " ")})
		release()
		if err != nil {
			return p.taskFailed(err, s.JSON)
		}
	}
	return p.watch(ctx, client, taskWatch{ID: *s.Attach, JSON: s.JSON, Plain: s.Plain})
}

// beside says what cannot stand beside --attach.
func (s taskStart) beside() string {
	if *s.Attach == "" {
		return "--attach names no task"
	}
	for name, given := range map[string]bool{
		"--detach": s.Detach, "--id": s.ID != "", "--cwd": s.Cwd != "", "--model": s.Model != "", "--sandbox": s.Sandbox != "",
		"--approval-policy": s.ApprovalPolicy != "", "--notify": s.Notify != "",
	} {
		if given {
			return name + " is for a new task, and --attach goes on with one that is there"
		}
	}
	return ""
}
