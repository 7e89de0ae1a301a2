package leftovers

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// EndAgents ends the subagents of a turn and those at work in a conversation, either of which
// may be empty, with their commands. Where codex does not manage it in the grace period it
// is restarted, which takes them with it. It returns how many they were.
func (e *Ender) EndAgents(on *child.Child, root, session string) int {
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	threads, err := e.endAgents(ctx, on, root, session)
	if err != nil && !on.Gone() {
		e.log.Warn("a subagent would not stop, codex is restarted", "turn_id", root, "thread_id", session, "err", err)
		on.Restart("subagent would not stop")
		<-on.Done()
	}
	e.endCommandsOf(threads)
	return len(threads)
}

// EndAgentsGently is EndAgents where codex is not to be restarted for it.
func (e *Ender) EndAgentsGently(on *child.Child, root, session string) {
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	threads, err := e.endAgents(ctx, on, root, session)
	if err != nil && !on.Gone() {
		e.log.Warn("a subagent of another agent's turn goes on", "turn_id", root, "thread_id", session, "err", err)
	}
	e.endCommandsOf(threads)
}

// endCommandsOf kills what the commands of subagents have left.
func (e *Ender) endCommandsOf(threads map[string]bool) {
	if len(threads) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	e.KillCommands(ctx, func(c commands.Command) bool { return threads[c.ThreadID] })
}

// endAgents interrupts until none of them works. It returns their threads.
func (e *Ender) endAgents(ctx context.Context, on *child.Child, root, session string) (threads map[string]bool, err error) {
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
		if !sleep.For(ctx, Every) {
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
		err := EndTerminals(ctx, on, thread, func(appserver.BackgroundTerminal) bool { return true })
		if err != nil && !appserver.IsThreadGone(err) {
			return err
		}
	}
	return nil
}

// agentsOf returns the subagents that work, or have worked, for the turn root, and those that
// work in the session, with the turns of those at work. What begins for the same turns from
// now on is ended too.
func (e *Ender) agentsOf(ctx context.Context, on *child.Child, root, session string) (turns map[string]string, err error) {
	if err := e.learnSessions(ctx, on, root, session); err != nil {
		return nil, err
	}
	return e.cfg.Desk.AgentsOf(root, session), nil
}

// AgentsWork reports whether subagents work in the session, or may.
func (e *Ender) AgentsWork(ctx context.Context, on *child.Child, session string) bool {
	err := e.learnSessions(ctx, on, "", session)
	return err != nil || e.cfg.Desk.AgentsWork(session)
}

// learnSessions asks codex to which conversation the subagents belong that work for
// other turns than root.
func (e *Ender) learnSessions(ctx context.Context, on *child.Child, root, session string) error {
	for _, thread := range e.cfg.Desk.Strangers(root, session) {
		read, err := on.ThreadRead(ctx, thread)
		if _, refused := errors.AsType[*appserver.RPCError](err); refused {
			e.log.Warn("it could not be found out whose subagent works", "thread_id", thread, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		e.cfg.Desk.LearnSession(thread, read.SessionID)
	}
	return nil
}
