package executor

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A grant is what codex may do in a turn.
type grant struct {
	policy  appserver.ApprovalPolicy
	sandbox appserver.SandboxMode
}

// ownGrant is that of turns whose job asks for nothing else.
func (e *Executor) ownGrant() grant { return grant{e.cfg.Thread.ApprovalPolicy, e.cfg.Thread.Sandbox} }

// grantOf is what the turns of c that codex has something left of may do.
func (e *Executor) grantOf(c *conversation) grant {
	if c.granted == (grant{}) {
		return e.ownGrant()
	}
	return c.granted
}

// reasonLoaded is why a codex is restarted that unloads a thread no more.
const reasonLoaded = "thread not unloaded"

// regrant has what earlier turns of c have left do no more than the turn of j may, and no
// less: subagents and scripts. codex lets each keep what it was made with (seen on 0.169.0),
// but a subagent that is not loaded is loaded with what the turn has that gives it work, and
// scripts end with the loading of their thread (TestScriptEndsWhereMoreIsAllowed). So do subagents
// at work and commands that were left running. The thread is for the caller to load again.
// Where it cannot be unloaded codex is restarted, which unloads them all. The caller holds
// c.lock.
func (e *Executor) regrant(ctx context.Context, c *conversation, j *job, on *child) error {
	var now grant
	now.policy, now.sandbox = e.allowed(j)
	if now == e.grantOf(c) {
		return nil
	}
	e.mustEndAgents(on, "", c.threadID)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.cfg.Patience)
	defer cancel()
	err := e.unloadAgents(ctx, on, c.threadID)
	if err == nil && c.resumable { // of one that is not, no turn has begun
		err = on.ThreadUnload(ctx, c.threadID)
		e.unloaded(c)
	}
	switch {
	case appserver.IsOverloaded(err):
		return err
	case err != nil && !appserver.IsThreadGone(err):
		e.log.Warn("a conversation could not be unloaded, codex is restarted", "thread_id", c.threadID, "err", err)
		on.restart(reasonLoaded)
		<-on.Done()
		c.granted = now // with codex all of it has ended
		return on.Err()
	}
	c.granted = now
	return nil
}

// unloadAgents unloads the subagents of a conversation.
func (e *Executor) unloadAgents(ctx context.Context, on *child, session string) error {
	loaded, err := on.ThreadsLoaded(ctx)
	if err != nil {
		return err
	}
	for _, thread := range loaded {
		if thread == session || e.isOurs(thread) {
			continue
		}
		read, err := on.ThreadRead(ctx, thread)
		if err == nil && read.SessionID == session {
			err = on.ThreadUnload(ctx, thread)
		}
		if err != nil && !appserver.IsThreadGone(err) {
			return err
		}
	}
	return nil
}

// isOurs reports whether a conversation has the thread.
func (e *Executor) isOurs(thread string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.threads[thread]
}
