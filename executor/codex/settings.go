package codex

import (
	"cmp"
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// A wishError says why a job cannot have what it asks for.
type wishError string

func (e wishError) Error() string { return string(e) }

// wish is the error that a job cannot have what it asks for, where there is a reason.
func wish(why string) error {
	if why == "" {
		return nil
	}
	return wishError(why)
}

// settings are those of a thread, in the form that turn/start takes.
type settings struct {
	cwd, model string
	sandbox    json.RawMessage
	policy     appserver.ApprovalPolicy
}

// learn notes what a thread was loaded with, from the answer of the call that has done it.
func (c *conversation) learn(asked appserver.ThreadStartParams, got appserver.ThreadSession) {
	c.own = settings{cwd: cmp.Or(asked.Cwd, got.Cwd), model: got.Model, sandbox: got.Sandbox, policy: asked.ApprovalPolicy}
	c.strayed = false
}

// adjust makes a turn run with what its job asks for. codex keeps that for the
// turns that follow, so the next of them says its own again. The sandbox and the policy
// of the thread are those of the job by then: see regrant.
//
// The job's folder is only where commands start. What they may write in a sandbox
// is the thread's own directory, which no command can replace: codex looks for its
// roots anew with each command, and left to itself it makes one of the folder, which
// may be a symlink to anywhere by then (seen on 0.169.0).
func (d *Driver) adjust(c *conversation, o agent.Options, on *child.Child, params *appserver.TurnStartParams) {
	if !c.says(o) {
		return
	}
	params.Cwd = cmp.Or(o.Cwd, c.own.cwd)
	params.WorkspaceRoots = []string{c.own.cwd}
	params.Model = cmp.Or(o.Model, c.own.model)
	params.ApprovalPolicy = cmp.Or(appserver.ApprovalPolicy(o.ApprovalPolicy), c.own.policy)
	params.SandboxPolicy = c.own.sandbox
	if o.Sandbox != "" && o.Sandbox != d.ownGrant().sandbox { // its own may have more to it than the mode
		params.SandboxPolicy = appserver.PolicyOf(appserver.SandboxMode(o.Sandbox), on.Launch.Temp)
	}
}

// says reports whether a turn that asks for o says what it runs with, where it works among it.
func (c *conversation) says(o agent.Options) bool { return o != agent.Options{} || c.strayed }

// adjusted notes what the thread's settings may be after a turn/start that ended
// with err.
func (c *conversation) adjusted(o agent.Options, err error) {
	c.strayed = o != agent.Options{} || c.strayed && err != nil
}

// otherModel is the model that a turn has named, if that is not its thread's own; else it is
// empty.
func (c *conversation) otherModel(o agent.Options) string {
	if o.Model == c.own.model {
		return ""
	}
	return o.Model
}
