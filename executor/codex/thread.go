package codex

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

const (
	startThreadTimeout  = 2 * time.Minute // slow MCP servers hold thread/start for 40 s and more
	resumeThreadTimeout = 60 * time.Second
	shortCallTimeout    = 10 * time.Second
	writerRetry         = 100 * time.Millisecond // while another process still holds the thread
	writerWait          = 10 * time.Second
)

// load makes sure that c has a thread that is loaded in the child and sends us
// its notifications.
func (d *Driver) load(ctx context.Context, c *conversation, on *child.Child) error {
	if d.isLoaded(c, on) {
		return nil
	}
	if why := on.Unreadable(); why != "" {
		return wishError(why + ": remove it, or put a file there that codex can read; nothing was done")
	}
	d.makeRoom(ctx, on, 1)
	if c.threadID != "" && c.resumable {
		again := d.resume
		if c.tools == ForeignTools {
			again = d.fork
		}
		err := again(ctx, c, on)
		if d.mayFork(c, err) {
			err = d.fork(ctx, c, on)
		}
		if err == nil || !isLost(err) {
			return err
		}
		d.log.Warn("a thread could not be resumed and is replaced by a new one", "thread_id", c.threadID, "err", err)
		d.forget(c, err)
	}
	return d.open(ctx, c, on)
}

// isLost reports whether a refused resume means that the thread cannot be had
// any more: all that codex refuses for good, a damaged file included.
func isLost(err error) bool {
	_, refused := errors.AsType[*appserver.RPCError](err)
	passing := appserver.IsActiveWriter(err) || appserver.IsOverloaded(err) || appserver.IsBadConfig(err) || appserver.IsWithoutServer(err) || appserver.IsPassing(err)
	return refused && !passing
}

// open starts a new thread for c.
func (d *Driver) open(ctx context.Context, c *conversation, on *child.Child) error {
	params, instructions := d.newThread(c, on)
	session, err := d.loadWith(ctx, on, loading{asked: params, limit: startThreadTimeout, call: func(ctx context.Context) (appserver.ThreadSession, error) {
		return on.ThreadStart(ctx, params)
	}})
	if err != nil {
		return err
	}
	c.threadID, c.rollout, c.resumable = session.Thread.ID, session.Thread.Path, false
	c.tools = d.toolSet
	c.learn(params, session)
	c.heard = told.Heard{Loaded: instructions, Known: instructions}
	d.loaded(c, on)
	return nil
}

// resume loads the thread of c.
func (d *Driver) resume(ctx context.Context, c *conversation, on *child.Child) error {
	params, instructions := d.newThread(c, on)
	again := appserver.ThreadResumeParams{
		ThreadID: c.threadID, ExcludeTurns: true,
		Model: cmp.Or(params.Model, c.own.model), ModelProvider: params.ModelProvider, Cwd: params.Cwd,
		ApprovalPolicy: params.ApprovalPolicy, ApprovalsReviewer: params.ApprovalsReviewer,
		Sandbox: params.Sandbox, Config: params.Config, DeveloperInstructions: params.DeveloperInstructions,
	}
	session, err := d.loadWith(ctx, on, loading{of: c.threadID, asked: params, limit: resumeThreadTimeout, call: func(ctx context.Context) (appserver.ThreadSession, error) {
		return resumeFree(ctx, on, again)
	}})
	c.rollout = cmp.Or(session.Thread.Path, c.rollout)
	if err != nil {
		return err
	}
	c.learn(params, session)
	c.resumable, c.history, c.heard.Loaded = true, true, instructions
	d.loaded(c, on)
	return nil
}

// resumeFree resumes a thread, waiting while another process still holds it: a child that was
// killed a moment ago may not be gone yet.
func resumeFree(ctx context.Context, on *child.Child, params appserver.ThreadResumeParams) (appserver.ThreadSession, error) {
	for deadline := time.Now().Add(writerWait); ; {
		session, err := resumeAs(ctx, on, params)
		if !appserver.IsActiveWriter(err) || time.Now().After(deadline) {
			return session, err
		}
		if !sleep.For(ctx, writerRetry) {
			return session, context.Cause(ctx)
		}
	}
}

// resumeAs resumes a thread with what is asked for, also one that codex has loaded with something
// else and that we follow, as after a loading that was given up. Where codex is bound to something
// else it has that then, too.
func resumeAs(ctx context.Context, on *child.Child, params appserver.ThreadResumeParams) (none appserver.ThreadSession, _ error) {
	session, err := on.ThreadResume(ctx, params)
	if err != nil || session.May(params.ApprovalPolicy, params.Sandbox) {
		return session, err
	}
	switch err = on.ThreadUnload(ctx, params.ThreadID); {
	case appserver.IsOverloaded(err), err != nil && ctx.Err() != nil:
		return none, err
	case err != nil && !appserver.IsThreadGone(err):
		on.Restart(reasonLoaded)
		<-on.Done()
		return none, on.Err()
	}
	return on.ThreadResume(ctx, params)
}
