package codex

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// A Process says how codex is started. Bin must be set.
type Process struct {
	Bin  string   // the binary
	Args []string // after "app-server", such as "-c", "key=value"; visible to every user of the machine
	Env  []string // the whole environment; nil is an empty one
	Dir  string   // working directory; empty is ours

	User      *asuser.User // that codex and its commands run as; nil is ours
	Through   []string     // a program that becomes Bin, with its own arguments; nil is none
	OwnMounts bool         // what is mounted later does not arrive with codex: see [asuser.User.OwnMounts]

	ClientName    string // how we introduce ourselves; the model provider sees it. Empty is "runtime"
	ClientVersion string // empty is "0"

	Grace   time.Duration // what each step of its end waits; 0 is 2 s
	MaxLine int           // longest line of codex in bytes; a longer one is dropped. 0 is 64 MiB
	Wire    Wire          // is told each line in either direction, secrets and all; nil records nothing
}

// A Wire is told everything that is said to codex and by it, for people who look for a fault. Its methods are
// called concurrently, in an order in which no line stands in front of one that it answers. They must not
// block, and what they are given is valid until they return.
type Wire interface {
	Started(pid int)
	Sent(line []byte)     // without its end
	Received(line []byte) // each line of codex, also one that is no message; without its end
	Dropped(size int64)   // a line of codex that was longer than allowed
	Ended(end any)        // after everything that was said; end has its status, and why, for JSON
}

// A Thread says what threads are started with, and resumed with.
type Thread struct {
	Cwd            string // where commands start; empty is where codex does
	Model          string // empty leaves it to codex
	ModelProvider  string // by codex's name for it; empty leaves it to codex
	ApprovalPolicy agent.ApprovalPolicy
	Sandbox        agent.Sandbox
	DynamicTools   []agent.Tool   // that the model can call; a thread keeps those that it was started with
	Config         map[string]any // above what codex has configured; nil is nothing
}

// config is how it is started, in the words of the wire.
func (p Process) config() appserver.Config {
	return appserver.Config{
		Bin: p.Bin, Args: p.Args, Env: p.Env, Dir: p.Dir, User: p.User, Through: p.Through, OwnMounts: p.OwnMounts,
		ClientName: p.ClientName, ClientVersion: p.ClientVersion, Grace: p.Grace, MaxLine: p.MaxLine, Wire: p.Wire,
	}
}

// params are what it is started with, in the words of the wire. The reviewer of approvals is fixed, for every thread: codex's
// configuration can otherwise redirect approvals, to a reviewer that answers them in the place of the driver.
func (t Thread) params() appserver.ThreadStartParams {
	params := appserver.ThreadStartParams{
		Cwd: t.Cwd, Model: t.Model, ModelProvider: t.ModelProvider, ApprovalsReviewer: "user",
		ApprovalPolicy: appserver.ApprovalPolicy(t.ApprovalPolicy), Sandbox: appserver.SandboxMode(t.Sandbox), Config: t.Config,
	}
	for _, tool := range t.DynamicTools {
		params.DynamicTools = append(params.DynamicTools, appserver.DynamicTool{
			Type: "function", Name: tool.Name, Description: tool.Description, InputSchema: tool.Schema,
		})
	}
	return params
}
