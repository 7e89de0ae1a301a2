package executor

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// mostBarred bounds the turns that codex is not to begin anything for. Past it all are
// forgotten: what begins for them does so within milliseconds of their end, or never.
const mostBarred = 256

// runs reports whether a turn of ours runs. The caller holds e.mu.
func (e *Executor) runs(turnID string) bool {
	for _, in := range e.inquiries {
		if in.isOf(turnID) {
			return true
		}
	}
	return false
}

// forgetAgents lets go of the subagents that have worked for a turn which has ended. The
// caller holds e.mu.
func (e *Executor) forgetAgents(in *inquiry) {
	for thread, root := range e.agents.done {
		if in.isOf(root) {
			delete(e.agents.done, thread)
		}
	}
}

// bar has what begins for a turn from now on end at once. The caller holds e.mu.
func (e *Executor) bar(root string) {
	if len(e.agents.barred) >= mostBarred {
		clear(e.agents.barred)
	}
	e.agents.barred[root] = true
}

// endLate ends subagents that have begun after the turn was ended that they work for.
func (e *Executor) endLate(root string) {
	if on, _ := e.child.health(); on != nil {
		e.mustEndAgents(on, root, "")
	}
}

// EndAgents ends the subagents that work in the conversation of a thread, also those that
// go on after a turn that ended well, with their commands. It returns how many they were.
func (e *Executor) EndAgents(thread string) int {
	on, _ := e.child.health()
	if on == nil || thread == "" {
		return 0
	}
	return e.mustEndAgents(on, "", thread)
}

// endAgents ends the subagents that work for the turn, and all others of its conversation.
func (t *turn) endAgents() { t.e.mustEndAgents(t.on, t.id, t.c.threadID) }

// endAgentsGently is endAgents where codex is not to be restarted for it.
func (t *turn) endAgentsGently() {
	ctx, cancel := context.WithTimeout(context.Background(), t.e.cfg.Grace)
	defer cancel()
	threads, err := t.e.endAgents(ctx, t.on, t.id, t.c.threadID)
	if err != nil && !t.on.gone() {
		t.e.log.Warn("a subagent of another agent's turn goes on", "turn_id", t.id, "thread_id", t.c.threadID, "err", err)
	}
	t.e.endCommandsOf(threads)
}

// mustEndAgents ends the subagents of a turn and those at work in a conversation, either of which
// may be empty, with their commands. Where codex does not manage it in the grace period it
// is restarted, which takes them with it. It returns how many they were.
func (e *Executor) mustEndAgents(on *child, root, session string) int {
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	threads, err := e.endAgents(ctx, on, root, session)
	if err != nil && !on.gone() {
		e.log.Warn("a subagent would not stop, codex is restarted", "turn_id", root, "thread_id", session, "err", err)
		on.restart("subagent would not stop")
		<-on.Done()
	}
	e.endCommandsOf(threads)
	return len(threads)
}

// endCommandsOf kills what the commands of subagents have left.
func (e *Executor) endCommandsOf(threads map[string]bool) {
	if len(threads) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	e.killCommands(ctx, func(c appserver.Command) bool { return threads[c.ThreadID] })
}

// endAgents interrupts until none of them works. It returns their threads.
func (e *Executor) endAgents(ctx context.Context, on *child, root, session string) (threads map[string]bool, err error) {
	threads = map[string]bool{}
	for {
		found, err := e.agentsOf(ctx, on, root, session)
		if err != nil {
			return threads, err
		}
		working := 0
		for thread, turn := range found {
			threads[thread] = true
			if turn == "" {
				continue
			}
			working++
			if err := interruptAgent(ctx, on, thread, turn); err != nil {
				return threads, err
			}
		}
		if working == 0 {
			return threads, endTerminalsOf(ctx, on, threads)
		}
		if !sleep.For(ctx, goneEvery) {
			return threads, context.Cause(ctx)
		}
	}
}

// interruptAgent asks codex to end the turn of a subagent; one that has ended, or is to
// begin yet, is looked at again.
func interruptAgent(ctx context.Context, on *child, thread, turn string) error {
	err := on.TurnInterrupt(ctx, thread, turn)
	if found, ok := appserver.StaleTurn(err); ok {
		err = on.TurnInterrupt(ctx, thread, found)
	}
	if _, refused := errors.AsType[*appserver.RPCError](err); refused {
		return nil
	}
	return err
}

// endTerminalsOf ends the background terminals of threads, those that are not loaded
// any more have none.
func endTerminalsOf(ctx context.Context, on *child, threads map[string]bool) error {
	for thread := range threads {
		err := endTerminals(ctx, on, thread, func(appserver.BackgroundTerminal) bool { return true })
		if err != nil && !appserver.IsThreadGone(err) {
			return err
		}
	}
	return nil
}

// agentsOf returns the subagents that work, or have worked, for the turn root, and those that
// work in the session, with the turns of those at work. What begins for the same turns from
// now on is ended too.
func (e *Executor) agentsOf(ctx context.Context, on *child, root, session string) (turns map[string]string, err error) {
	if err := e.learnSessions(ctx, on, root, session); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if root != "" {
		e.bar(root)
	}
	found := map[string]string{}
	for thread, of := range e.agents.done {
		if of == root {
			found[thread] = ""
		}
	}
	for thread, a := range e.agents.at {
		if a.root == root || session != "" && a.session == session {
			found[thread] = a.turn
			e.bar(a.root)
		}
	}
	return found, nil
}

// agentsWork reports whether subagents work in the session, or may.
func (e *Executor) agentsWork(ctx context.Context, on *child, session string) bool {
	if err := e.learnSessions(ctx, on, "", session); err != nil {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.agents.at {
		if a.session == session {
			return true
		}
	}
	return false
}

// learnSessions asks codex to which conversation the subagents belong that work for
// other turns than root.
func (e *Executor) learnSessions(ctx context.Context, on *child, root, session string) error {
	for _, thread := range e.strangers(root, session) {
		read, err := on.ThreadRead(ctx, thread)
		if _, refused := errors.AsType[*appserver.RPCError](err); refused {
			e.log.Warn("it could not be found out whose subagent works", "thread_id", thread, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		e.mu.Lock()
		if a := e.agents.at[thread]; a != nil {
			a.session = read.SessionID
		}
		e.mu.Unlock()
	}
	return nil
}

// strangers are the threads of subagents at work of which it is not known whose they are.
func (e *Executor) strangers(root, session string) (threads []string) {
	if session == "" {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for thread, a := range e.agents.at {
		if a.root != root && a.session == "" && !e.runs(a.root) {
			threads = append(threads, thread)
		}
	}
	return threads
}
