package codex

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// mostBarred bounds the turns that codex is not to begin anything for. Past it all are
// forgotten: what begins for them does so within milliseconds of their end, or never.
const mostBarred = 256

// runsLocked reports whether a turn of ours runs.
func (d *Driver) runsLocked(turnID string) bool {
	for _, in := range d.inquiries {
		if in.isOf(turnID) {
			return true
		}
	}
	return false
}

// forgetAgentsLocked lets go of the subagents that have worked for a turn which has ended.
func (d *Driver) forgetAgentsLocked(in *inquiry) {
	for thread, root := range d.agents.done {
		if in.isOf(root) {
			delete(d.agents.done, thread)
		}
	}
}

// barLocked has what begins for a turn from now on end at once.
func (d *Driver) barLocked(root string) {
	if len(d.agents.barred) >= mostBarred {
		clear(d.agents.barred)
	}
	d.agents.barred[root] = true
}

// endLate ends subagents that have begun after the turn was ended that they work for.
func (d *Driver) endLate(root string) {
	if on, _ := d.child.Health(); on != nil {
		d.mustEndAgents(on, root, "")
	}
}

// EndAgents ends the subagents that work in the conversation of a thread, also those that
// go on after a turn that ended well, with their commands. It returns how many they were.
func (d *Driver) EndAgents(thread string) int {
	on, _ := d.child.Health()
	if on == nil || thread == "" {
		return 0
	}
	return d.mustEndAgents(on, "", thread)
}

// endAgents ends the subagents that work for the turn, and all others of its conversation.
func (t *turn) endAgents() { t.d.mustEndAgents(t.on, t.id, t.c.threadID) }

// endAgentsGently is endAgents where codex is not to be restarted for it.
func (t *turn) endAgentsGently() {
	ctx, cancel := context.WithTimeout(context.Background(), t.d.cfg.Grace)
	defer cancel()
	threads, err := t.d.endAgents(ctx, t.on, t.id, t.c.threadID)
	if err != nil && !t.on.Gone() {
		t.d.log.Warn("a subagent of another agent's turn goes on", "turn_id", t.id, "thread_id", t.c.threadID, "err", err)
	}
	t.d.endCommandsOf(threads)
}

// mustEndAgents ends the subagents of a turn and those at work in a conversation, either of which
// may be empty, with their commands. Where codex does not manage it in the grace period it
// is restarted, which takes them with it. It returns how many they were.
func (d *Driver) mustEndAgents(on *child.Child, root, session string) int {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	threads, err := d.endAgents(ctx, on, root, session)
	if err != nil && !on.Gone() {
		d.log.Warn("a subagent would not stop, codex is restarted", "turn_id", root, "thread_id", session, "err", err)
		on.Restart("subagent would not stop")
		<-on.Done()
	}
	d.endCommandsOf(threads)
	return len(threads)
}

// endCommandsOf kills what the commands of subagents have left.
func (d *Driver) endCommandsOf(threads map[string]bool) {
	if len(threads) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	d.killCommands(ctx, func(c appserver.Command) bool { return threads[c.ThreadID] })
}

// endAgents interrupts until none of them works. It returns their threads.
func (d *Driver) endAgents(ctx context.Context, on *child.Child, root, session string) (threads map[string]bool, err error) {
	threads = map[string]bool{}
	for {
		found, err := d.agentsOf(ctx, on, root, session)
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
func interruptAgent(ctx context.Context, on *child.Child, thread, turn string) error {
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
func endTerminalsOf(ctx context.Context, on *child.Child, threads map[string]bool) error {
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
func (d *Driver) agentsOf(ctx context.Context, on *child.Child, root, session string) (turns map[string]string, err error) {
	if err := d.learnSessions(ctx, on, root, session); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if root != "" {
		d.barLocked(root)
	}
	found := map[string]string{}
	for thread, of := range d.agents.done {
		if of == root {
			found[thread] = ""
		}
	}
	for thread, a := range d.agents.at {
		if a.root == root || session != "" && a.session == session {
			found[thread] = a.turn
			d.barLocked(a.root)
		}
	}
	return found, nil
}

// agentsWork reports whether subagents work in the session, or may.
func (d *Driver) agentsWork(ctx context.Context, on *child.Child, session string) bool {
	if err := d.learnSessions(ctx, on, "", session); err != nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.agents.at {
		if a.session == session {
			return true
		}
	}
	return false
}

// learnSessions asks codex to which conversation the subagents belong that work for
// other turns than root.
func (d *Driver) learnSessions(ctx context.Context, on *child.Child, root, session string) error {
	for _, thread := range d.strangers(root, session) {
		read, err := on.ThreadRead(ctx, thread)
		if _, refused := errors.AsType[*appserver.RPCError](err); refused {
			d.log.Warn("it could not be found out whose subagent works", "thread_id", thread, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		d.mu.Lock()
		if a := d.agents.at[thread]; a != nil {
			a.session = read.SessionID
		}
		d.mu.Unlock()
	}
	return nil
}

// strangers are the threads of subagents at work of which it is not known whose they are.
func (d *Driver) strangers(root, session string) (threads []string) {
	if session == "" {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for thread, a := range d.agents.at {
		if a.root != root && a.session == "" && !d.runsLocked(a.root) {
			threads = append(threads, thread)
		}
	}
	return threads
}
