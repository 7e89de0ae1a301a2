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

// regrant has what earlier turns of c have left do no more than the turn of j may, and no
// less: subagents and scripts. codex lets each keep what it was made with (seen on 0.169.0),
// but a subagent that is not loaded is loaded with what the turn has that gives it work, and a
// script ends with the loading of its thread, as do commands that were left running. Subagents
// at work end where j asks for something of its own, else they go on as they are. Where it
// cannot be done, codex is restarted, which unloads them all. The caller holds c.lock.
func (e *Executor) regrant(ctx context.Context, c *conversation, j *job, on *child) error {
	own := grant{e.cfg.Thread.ApprovalPolicy, e.cfg.Thread.Sandbox}
	var now grant
	now.policy, now.sandbox = e.allowed(j)
	if now == c.granted || now == own && c.granted == (grant{}) {
		return nil
	}
	if now != own {
		e.mustEndAgents(on, "", c.threadID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.cfg.Patience)
	defer cancel()
	err := e.unloadAgents(ctx, on, c.threadID, now == own)
	if err == nil && c.resumable { // of one that is not, no turn has begun
		err = on.ThreadUnload(ctx, c.threadID)
		e.unloaded(c)
	}
	if err != nil {
		e.log.Warn("a thread could not be unloaded, codex is restarted", "thread_id", c.threadID, "err", err)
		on.restart("thread not unloaded")
		<-on.Done()
		return on.Err()
	}
	c.granted = now
	return e.load(ctx, c, on)
}

// unloadAgents unloads the subagents of a conversation, but for those at work if these are
// spared.
func (e *Executor) unloadAgents(ctx context.Context, on *child, session string, spare bool) error {
	loaded, err := on.ThreadsLoaded(ctx)
	if err != nil {
		return err
	}
	for _, thread := range loaded {
		if thread == session || e.isOurs(thread) || spare && e.isAgent(thread) {
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
