package codex

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
)

// The sets of tools, as [executor.Attempt.Tools] names them, of threads that another program has
// begun, and of our forks of those. Nobody knows which tools they have. They are kept
// for their history, without the tools that are offered now: codex never gives them to
// a thread later.
const (
	ForeignTools = "foreign"
	forkedTools  = "forked"
)

// fork goes on from a thread of another program in one of our own: the other stays as it
// is, for that program. A fork has our model provider, while codex resumes a thread with
// the one that it was begun with, or not at all (seen on 0.169.0): so a thread of ours is
// forked, too, when the provider has changed, where it has no tools to lose. If we die
// before the first turn of the fork is written down, there will be another.
func (d *Driver) fork(ctx context.Context, c *conversation, on *child.Child) error {
	params, instructions := d.newThread(c, on)
	from := appserver.ThreadForkParams{
		ThreadID: c.threadID, ExcludeTurns: true, Model: params.Model, ModelProvider: params.ModelProvider, Cwd: params.Cwd,
		ApprovalPolicy: params.ApprovalPolicy, ApprovalsReviewer: params.ApprovalsReviewer, Sandbox: params.Sandbox,
		Config: params.Config, DeveloperInstructions: params.DeveloperInstructions,
	}
	session, err := d.loadWith(ctx, on, loading{asked: params, limit: resumeThreadTimeout, call: func(ctx context.Context) (appserver.ThreadSession, error) {
		return on.ThreadFork(ctx, from)
	}})
	if err != nil {
		return err
	}
	d.log.Info("a conversation goes on in a fork of its thread", "thread_id", session.Thread.ID, "of", c.threadID)
	c.threadID, c.rollout = session.Thread.ID, session.Thread.Path
	if c.tools == ForeignTools {
		c.tools = forkedTools
	}
	c.learn(params, session)
	c.resumable, c.history = true, true
	c.heard = told.Heard{Loaded: instructions, Known: c.heard.Known} // a fork begins as the thread that it is of, however it is loaded (seen on 0.169.0)
	d.loaded(c, on)
	return nil
}

// mayFork reports whether c goes on in a fork of its thread, which codex refuses to resume with another
// model provider: where that has no tools of ours to lose.
func (d *Driver) mayFork(c *conversation, refused error) bool {
	return appserver.IsOtherProvider(refused) && (d.toolSet == "" || c.foreign())
}
