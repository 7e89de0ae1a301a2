package codex

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

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
	return d.desk.AgentsOf(root, session), nil
}

// agentsWork reports whether subagents work in the session, or may.
func (d *Driver) agentsWork(ctx context.Context, on *child.Child, session string) bool {
	err := d.learnSessions(ctx, on, "", session)
	return err != nil || d.desk.AgentsWork(session)
}

// learnSessions asks codex to which conversation the subagents belong that work for
// other turns than root.
func (d *Driver) learnSessions(ctx context.Context, on *child.Child, root, session string) error {
	for _, thread := range d.desk.Strangers(root, session) {
		read, err := on.ThreadRead(ctx, thread)
		if _, refused := errors.AsType[*appserver.RPCError](err); refused {
			d.log.Warn("it could not be found out whose subagent works", "thread_id", thread, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		d.desk.LearnSession(thread, read.SessionID)
	}
	return nil
}
