package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// taskCommands are those of runtime task. Each stands for an action of codex_bridge.
type taskCommands struct {
	Start           taskStart   `cmd:"" help:"Start a task. On a terminal, work at it until it has ended; else print its id."`
	Status          taskOne     `cmd:"" help:"Say how a task is, what it has done last, and what it asks."`
	List            taskList    `cmd:"" help:"List the tasks, those with the newest status first."`
	Watch           taskWatch   `cmd:"" help:"Show a task from its beginning, as it goes on, until it has ended; exit 0 only if it is completed. On a terminal, work at it: answer what it asks, tell it more, cancel it."`
	Steer           taskSteer   `cmd:"" help:"Tell a task something in the middle of its work."`
	Interrupt       taskOne     `cmd:"" aliases:"cancel" help:"End a task, with the commands that it runs."`
	Respond         taskRespond `cmd:"" help:"Answer what a task asks."`
	NotifyCompleted taskNotify  `cmd:"" help:"Tell those once more who could not be told of a task's end."`
}

type taskStart struct {
	Prompt         []string `arg:"" optional:"" help:"What codex is to do."`
	Watch          bool     `help:"Stay, and show the task until it has ended; exit 0 only if it is completed. So it is on a terminal."`
	Detach         bool     `help:"Print the id and return, on a terminal, too."`
	Attach         *string  `placeholder:"id" help:"Work at that task, also of another client, in place of a new one. The prompt, if there is one, is told to it."`
	Plain          bool     `help:"On a terminal: write each thing once and below the one before, without colours, as screen readers need it."`
	ID             string   `placeholder:"id" help:"An id of your own, codex-<12 hex digits>: a start that is repeated with it runs once."`
	Cwd            string   `placeholder:"dir" help:"Directory to work in, under the runtime's. Default: that one."`
	Model          string   `placeholder:"name" help:"Model, instead of the runtime's."`
	Sandbox        string   `placeholder:"mode" help:"read-only or workspace-write. Default: read-only."`
	ApprovalPolicy string   `placeholder:"policy" help:"untrusted or on-request. Default: untrusted."`
	Notify         string   `placeholder:"target" help:"Who is told of the end: local (a line in the runtime's log), an http or https URL (it is posted to); in a workspace canvas (its user), peer:<workspace id>, or <service>:<chat id>."`
	JSON           bool     `name:"json" help:"Print the answer of codex_bridge, for programs."`
}

type taskOne struct {
	ID   string `arg:"" help:"The task."`
	JSON bool   `name:"json" help:"Print the answer of codex_bridge, for programs."`
}

type taskWatch struct {
	ID      string `arg:"" help:"The task."`
	Plain   bool   `help:"On a terminal: write each thing once and below the one before, without colours, as screen readers need it."`
	Verbose bool   `help:"Also show, for each turn, how its requests to the model went. On a terminal it is printed as elsewhere, and nothing can be answered there."`
	JSON    bool   `name:"json" help:"Print each event as A2A has it, and at last the answer of codex_bridge, for programs."`
}

type taskList struct {
	Limit int  `default:"10" placeholder:"n" help:"How many at most. Default: 10."`
	JSON  bool `name:"json" help:"Print the answer of codex_bridge, for programs."`
}

type taskSteer struct {
	ID          string   `arg:"" help:"The task."`
	Instruction []string `arg:"" help:"What it is to be told."`
	JSON        bool     `name:"json" help:"Print the answer of codex_bridge, for programs."`
}

type taskRespond struct {
	ID       string   `arg:"" help:"The task."`
	Request  string   `arg:"" help:"The id of the question, as status and watch show it."`
	Decision string   `placeholder:"word" help:"accept, acceptForSession, decline or cancel. Default: decline."`
	Answer   []string `placeholder:"q=text" sep:"none" help:"An answer to a question of a form; can be given again."`
	JSON     bool     `name:"json" help:"Print the answer of codex_bridge, for programs."`
}

type taskNotify struct {
	Limit  int  `default:"10" placeholder:"n" help:"How many at most. Default: 10."`
	DryRun bool `help:"Only say who would be told."`
	JSON   bool `name:"json" help:"Print the answer of codex_bridge, for programs."`
}

// client returns what calls the runtime.
func (p *program) client() (*bridge.Client, bool) {
	s, err := settings.LoadClient(p.environ)
	return bridge.New(bridge.Config{URL: s.URL, Token: s.Token.Reveal(), CodexHome: s.CodexHome}), p.usable(err)
}

// task runs one of the commands of runtime task.
func (p *program) task(ctx context.Context, command string, c *taskCommands) int {
	client, ok := p.client()
	if !ok {
		return exitUsage
	}
	command, _, _ = strings.Cut(command, " ")
	switch {
	case command == "watch":
		return p.watch(ctx, client, c.Watch)
	case command == "start" && c.Start.Attach != nil:
		return p.attach(ctx, client, c.Start)
	}
	args, asJSON, err := c.args(command)
	if c.Start.Watch && c.Start.Detach {
		err = errors.New("--watch and --detach cannot stand together")
	}
	if err != nil {
		p.complain(err.Error(), "runtime task "+command+" --help")
		return exitUsage
	}
	unhurried := ctx // the first Ctrl-C may be for what follows
	ctx, release := untilQuit(ctx)
	answer, err := client.Do(ctx, args)
	release()
	if err != nil {
		return p.taskFailed(err, asJSON)
	}
	if code := p.answer(answer, asJSON); code != exitOK || command != "start" || !c.Start.stays(p.place()) {
		return code
	}
	started, _ := answer.(bridge.StartAnswer)
	return p.watch(unhurried, client, taskWatch{ID: started.Task.TaskID, JSON: asJSON, Plain: c.Start.Plain})
}

// stays reports whether the command goes on when the task is started.
func (s taskStart) stays(place bool) bool { return s.Watch || place && !s.Detach && !s.JSON }

// args makes the action of a command.
func (c *taskCommands) args(command string) (args bridge.Args, asJSON bool, err error) {
	args.Action = strings.ReplaceAll(command, "-", "_")
	switch command {
	case "start":
		s := c.Start
		args.Prompt, args.TaskID, args.Cwd, args.Model = strings.Join(s.Prompt, " "), s.ID, s.Cwd, s.Model
		args.Sandbox, args.ApprovalPolicy, args.NotifyTarget = s.Sandbox, s.ApprovalPolicy, s.Notify
		return args, s.JSON, nil
	case "status":
		args.TaskID = c.Status.ID
		return args, c.Status.JSON, nil
	case "list":
		args.Limit = &c.List.Limit
		return args, c.List.JSON, nil
	case "steer":
		args.TaskID, args.Instruction = c.Steer.ID, strings.Join(c.Steer.Instruction, " ")
		return args, c.Steer.JSON, nil
	case "interrupt", "cancel":
		args.Action, args.TaskID = "interrupt", c.Interrupt.ID
		return args, c.Interrupt.JSON, nil
	case "respond":
		r := c.Respond
		args.TaskID, args.Instruction, args.Decision = r.ID, r.Request, r.Decision
		args.Answers, err = answers(r.Answer)
		return args, r.JSON, err
	}
	args.Limit, args.DryRun = &c.NotifyCompleted.Limit, c.NotifyCompleted.DryRun
	return args, c.NotifyCompleted.JSON, nil
}

// answers reads QUESTION=VALUE pairs into the shape that codex_bridge takes.
func answers(pairs []string) (map[string]any, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	out := map[string]any{}
	for _, pair := range pairs {
		question, value, ok := strings.Cut(pair, "=")
		if !ok || question == "" {
			return nil, fmt.Errorf("--answer %s is not of the form QUESTION=VALUE", pair)
		}
		given, _ := out[question].(map[string]any)
		list, _ := given["answers"].([]any)
		out[question] = map[string]any{"answers": append(list, value)}
	}
	return out, nil
}

func (p *program) answer(answer any, asJSON bool) int {
	failure, failed := answer.(bridge.FailureAnswer)
	if failed && !asJSON {
		return p.taskFailed(errors.New(failure.Error), false)
	}
	out, write := p.stdout, bridge.WriteHuman
	if asJSON {
		out, write = p.json(), bridge.WriteJSON
	}
	if err := write(out, answer); err != nil {
		return p.fail(err)
	}
	if failed {
		return exitFailed
	}
	return exitOK
}

// taskFailed says why an action was not performed.
func (p *program) taskFailed(err error, asJSON bool) int {
	if asJSON {
		_ = bridge.WriteJSON(p.json(), bridge.FailureAnswer{Error: err.Error()})
		return exitFailed
	}
	_, _ = fmt.Fprintf(p.stderr, "runtime: %s\n", brief.Plain(err.Error()))
	return exitFailed
}
