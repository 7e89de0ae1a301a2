package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

const (
	turnLimit  = 30 * time.Second // what codex gets to start and to run both turns
	mostReason = 2000             // characters of why one did not come to its end
)

// deepChecks are those that run turns: none unless that was asked for.
func deepChecks(c Case) []preflight.Check {
	if !c.Deep {
		return nil
	}
	return []preflight.Check{turnCheck(c)}
}

// turnCheck has a codex of its own run whole turns, with a tool, a command if there is a sandbox for it, a
// message in the middle and an interruption. The model is the built-in one, and the home has nothing of the
// operator's: without a login, servers of tools and a program that is notified nothing leaves this machine.
func turnCheck(c Case) preflight.Check {
	return preflight.Check{Name: "turn", Run: func(ctx context.Context) preflight.Result {
		ctx, cancel := context.WithTimeoutCause(ctx, turnLimit, fmt.Errorf("%v have passed", turnLimit))
		defer cancel()
		began := time.Now()
		version, err := tryTurn(ctx, c)
		return turnResult(version, c.Settings.Sandbox, time.Since(began), err)
	}}
}

func tryTurn(ctx context.Context, c Case) (version string, err error) {
	model, err := fakemodel.Listen(fakemodel.BuiltIn)
	if err != nil {
		return "", err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = model.Close(ctx) // codex, which has asked it, has ended
	}()
	at, err := bareScratch(c.Settings.User)
	if err != nil {
		return "", err
	}
	defer at.remove()
	fenced := fence.Make(ctx, c.Settings, secrets.Of(c.Settings, c.Environ).Known)
	c.Settings.BuiltinModel, c.Settings.CodexHome = "scripted", at.home()
	c.Settings.CodexFeatures = "lean" // with others codex looks for plugins on the network at its start
	start, _, _, err := adapter.Look(launch.Setup(c.Settings, c.Environ, model.BaseURL()))
	if err != nil {
		return "", err
	}
	p := process(c, start, at)
	p.Through, p.OwnMounts = fenced.Argv, fenced.OwnMounts
	p.Args = append(slices.Clone(p.Args), "-c", "notify=[]") // that of the machine's configuration
	return codex.TryTurn(ctx, p, trial(c, start))
}

// trial is what is tried, in the words that the built-in model goes by.
func trial(c Case, start adapter.Launch) codex.TurnTrial {
	const tool, arguments, answer, printed, heard = "runtime_trial", `{"word":"given"}`, "answered-by-the-tool", "printed-by-a-command", "heard-in-the-turn"
	t := codex.TurnTrial{
		Thread: codex.Thread{
			Cwd: c.Settings.WorkDir, ModelProvider: start.Provider.ID(), Config: start.Untrusted(),
			Sandbox: agent.Sandbox(c.Settings.Sandbox), ApprovalPolicy: agent.Never, // there is no person to ask
		},
		Tool: agent.Tool{
			Name: tool, Description: "Answers with a word.", Schema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}}}`),
		},
		Arguments: arguments, Answer: answer, Heard: heard,
		Hold: "call " + tool + " " + arguments, Steer: "say " + heard + "\nhang",
	}
	t.Work = t.Hold
	if c.Settings.Sandbox != "danger-full-access" {
		t.Printed = printed
		t.Work += "\nrun echo " + printed
	}
	t.Work += "\nstream 8 8"
	return t
}

// turnResult puts into words what came of it.
func turnResult(version, sandbox string, took time.Duration, err error) preflight.Result {
	if err == nil {
		with := "a tool"
		if sandbox != "danger-full-access" {
			with += ", a command in the sandbox"
		}
		return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf(
			"codex %s ran two on the scripted model, with %s, a steer and an interruption, in %.1f s", version, with, took.Seconds())}
	}
	why := brief.Line(err.Error(), mostReason)
	if _, ok := errors.AsType[*codex.StepError](err); !ok {
		return preflight.Result{Status: preflight.Fail, Detail: "none was tried: " + why, Fix: "see the checks configuration and temp directory"}
	}
	fix := "see the checks codex, sandbox and work directory, and try it again when the machine is not busy"
	if version != "" && !codexfit.Tried(version) {
		fix = codexfit.Install()
	}
	return preflight.Result{Status: preflight.Fail, Detail: strings.TrimRight("codex "+version, " ") + " was tried with one on the scripted model: " + why, Fix: fix}
}
