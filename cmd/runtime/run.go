package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
)

// commands is the command line.
type commands struct {
	Help     bool             `short:"h" help:"Show this help, or that of a command."`
	Serve    struct{}         `cmd:"" default:"1" help:"Serve A2A over HTTP until interrupted. This is what runtime alone does."`
	Task     taskCommands     `cmd:"" help:"Start, watch and steer tasks of a running runtime."`
	Channel  channelCommands  `cmd:"" help:"Read the inboxes of workspaces on a platform, and answer what comes."`
	Machine  machineCommands  `cmd:"" help:"Run commands on this machine for the conversations of runtimes elsewhere."`
	Machines machinesCommands `cmd:"" help:"Show the machines that commands of a running runtime run on, and have one drain."`
	MCP      mcpFlags         `cmd:"" name:"mcp" help:"Serve MCP over stdio: the tool codex_bridge and, for a workspace, its tools and its inbox."`
	Connect  connectFlags     `cmd:"" help:"Print the commands that connect a codex to the workspace of the environment. The token is in them."`
	Doctor   doctorFlags      `cmd:"" help:"Check whether a turn would run here; exit 0 only if it would. It writes nothing."`
	Version  jsonOption       `cmd:"" help:"Print the versions: ours, the codex it is made for, A2A."`
	TrimLog  trimFlags        `cmd:"" name:"trim-log" hidden:"" help:"Cut the log of codex short. The threads stand on standard input."`
}

type trimFlags struct {
	Path string `arg:"" help:"The log."`
	Keep int64  `arg:"" help:"How many rows stay."`
}

type jsonOption struct {
	JSON bool `name:"json" help:"Print JSON, for programs."`
}

// parserOf reads a command line into c.
func parserOf(c *commands, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(options, kong.Name("runtime"), kong.NoDefaultHelp(),
		kong.Description("Makes the Codex CLI an agent that speaks A2A 1.0 and 0.3 over HTTP."))...)
}

// run is the whole program but for signals. It returns the exit code.
func run(ctx context.Context, args, environ []string, stdin io.ReadCloser, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr}
	code := p.do(ctx, args)
	if code == exitOK && p.unsaid != nil {
		return p.fail(p.unsaid)
	}
	return code
}

// do carries a command line out.
func (p *program) do(ctx context.Context, args []string) int {
	var c commands
	parser, err := parserOf(&c, kong.Writers(p.stdout, p.stderr))
	if err != nil {
		return p.fail(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil && asksForHelp(args) { // a command that needs more than its name
		return p.help(parser.Model, args)
	}
	if err != nil {
		p.complain(err.Error(), "runtime --help lists the commands and settings")
		return exitUsage
	}
	if c.Help {
		return p.help(parser.Model, args)
	}
	switch command, rest, _ := strings.Cut(parsed.Command(), " "); command {
	case "task":
		return p.task(ctx, rest, &c.Task)
	case "channel":
		return p.channel(ctx, rest, &c.Channel)
	case "machine":
		return p.machine(ctx, rest)
	case "machines":
		return p.machines(ctx, rest, &c.Machines)
	case "mcp":
		return p.mcp(ctx, c.MCP)
	case "connect":
		return p.connect(c.Connect)
	case codexlog.Command:
		return codexlog.Work(ctx, c.TrimLog.Path, c.TrimLog.Keep, p.stdin, p.stdout, p.stderr)
	case "doctor":
		return p.doctor(ctx, c.Doctor)
	case "version":
		return p.version(c.Version.JSON)
	default:
		return p.serve(ctx)
	}
}
