package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// Conversations knows the threads of conversations.
type Conversations interface {
	// Thread returns the thread of a conversation, or "" if it has none.
	Thread(ctx context.Context, conversation string) (string, error)
	// Drop lets go of a conversation's thread: the next message gets a new one.
	// [executor.ErrBusy] says that a turn of it runs or waits.
	Drop(ctx context.Context, conversation string) error
	// EndAgents ends the subagents that still work in a conversation, and returns how many.
	EndAgents(ctx context.Context, conversation string) (int, error)
}

// noConversations is for engines whose runner has no threads.
type noConversations struct{}

func (noConversations) Thread(context.Context, string) (string, error) { return "", nil }
func (noConversations) Drop(context.Context, string) error             { return nil }
func (noConversations) EndAgents(context.Context, string) (int, error) { return 0, nil }

// command makes a task of a command, which is answered without codex and does not
// wait for anything that does. Its caller passes meanwhile (admission.go).
func (e *Engine) command(ctx context.Context, in *incoming) (*view, error) {
	t := e.taskFor(in)
	t.conversation = commandPrefix + t.conversation
	r, err := t.join(in, e.cfg.journaled(ctx))
	if err != nil {
		return nil, err
	}
	e.live.add(t)
	v := t.view()
	r.let()
	e.obey(r, in.command, e.ofConversation(t.about()))
	return v, nil
}

// let is admit for whoever does not hold the task's lock.
func (r *run) let() {
	r.task.lock()
	defer r.task.unlock()
	r.admit()
}

// journaled is the commit of a new message.
func (c Config) journaled(ctx context.Context) func(store.Message, store.Head) error {
	return func(m store.Message, head store.Head) error { return c.Journal.Accept(ctx, m, head) }
}

// obey carries a command out; others are the tasks under way that it is about. It
// does not wait. A command that a stop of ours leaves without an answer is
// carried out again by the next process. Its caller passes meanwhile (admission.go).
func (e *Engine) obey(r *run, command string, others []*task) {
	switch command {
	case commandStop:
		for _, t := range others {
			e.cancelTask(t)
		}
		e.wg.Go(func() {
			for _, t := range others {
				if e.wait(e.root, t.over) != nil {
					return
				}
			}
			r.answer(stopped(others, e.endAgents(r.task.about(), others)))
		})
	case commandNew:
		e.wg.Go(func() { r.answer(e.renew(r.task.about())) })
	case commandRestarted:
		e.wg.Go(func() { r.answer(restartedText) })
	case commandPressed:
		e.wg.Go(func() { r.answer(pressedText) })
	case commandTimeUp:
		e.wg.Go(func() { r.answer(timeUpText) })
	case commandStatus:
		e.wg.Go(func() { r.answer(e.describe(r.task, others)) })
	}
}

// endAgents ends the subagents that work in a conversation, and in those of tasks aside of it, and
// returns how many.
func (e *Engine) endAgents(conversation string, others []*task) int {
	all := map[string]bool{conversation: true}
	for _, t := range others {
		all[t.conversation] = true
	}
	ended := 0
	for each := range all {
		agents, err := e.cfg.Conversations.EndAgents(e.root, each)
		if err != nil {
			e.log.Error("the subagents of a conversation could not be ended", "err", err)
		}
		ended += agents
	}
	return ended
}

// answer ends the task of a command.
func (r *run) answer(text string) {
	r.observe(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "answer", Text: text}}})
}

// stopped says what a stop has ended: tasks, and subagents that worked on after theirs.
func stopped(others []*task, agents int) string {
	canceled, parked := 0, 0
	for _, t := range others {
		switch state := t.peek().Status.State; {
		case state == a2a.TaskStateCanceled:
			canceled++
		case !state.Terminal():
			parked++
		}
	}
	var ended []string
	switch tasks := canceled + parked; {
	case tasks == 1:
		ended = append(ended, "one task was canceled")
	case tasks > 1:
		ended = append(ended, fmt.Sprintf("%d tasks were canceled", tasks))
	}
	switch {
	case agents == 1:
		ended = append(ended, "one subagent was ended")
	case agents > 1:
		ended = append(ended, fmt.Sprintf("%d subagents were ended", agents))
	}
	if ended == nil {
		return "Nothing was running or waiting here."
	}
	return "Stopped: " + strings.Join(ended, ", ") + "."
}

// dropTimeout bounds how long it may take to let go of a thread.
const dropTimeout = 20 * time.Second

// renew lets go of a conversation's thread and says so.
func (e *Engine) renew(conversation string) string {
	ctx, cancel := context.WithTimeout(e.root, dropTimeout)
	defer cancel()
	err := e.cfg.Conversations.Drop(ctx, conversation)
	switch {
	case errors.Is(err, executor.ErrBusy):
		return "Codex is at work here, so the conversation goes on. Send /stop first, or wait, and then /new."
	case err != nil:
		e.log.Error("a conversation could not be let go", "err", err)
		return "The conversation could not be let go; the runtime's log says why."
	}
	return "The next message begins a new conversation; codex will not know what was said before."
}

// describe says how a conversation stands.
func (e *Engine) describe(asked *task, others []*task) string {
	var b strings.Builder
	waiting, running := 0, false
	for _, t := range others {
		line, waits := t.standing()
		waiting += waits
		if line != "" {
			running = true
			fmt.Fprintln(&b, line)
		}
	}
	if !running {
		fmt.Fprintln(&b, "No turn is running.")
	}
	fmt.Fprintf(&b, "Waiting: %d.\n", waiting)
	if thread, err := e.cfg.Conversations.Thread(e.root, asked.about()); err != nil {
		e.log.Error("the thread of a conversation could not be read", "err", err)
	} else if thread != "" {
		fmt.Fprintf(&b, "Thread: %s.\n", thread)
	} else {
		fmt.Fprintln(&b, "Thread: none yet.")
	}
	fmt.Fprintf(&b, "Tokens of the last task: %.0f.\n", e.lastTokens(asked))
	if why := e.cfg.Runner.Held(); why != "" {
		fmt.Fprintf(&b, "No turn is started: %s.\n", why)
	}
	return strings.TrimSpace(b.String())
}

// standing says since when a turn of the task runs, or what it waits for, and how
// many of its messages wait.
func (t *task) standing() (line string, waiting int) {
	t.lock()
	defer t.unlock()
	for _, r := range t.runs {
		switch {
		case r.started.IsZero():
			waiting++
		case t.status.State == a2a.TaskStateWorking:
			line = fmt.Sprintf("A turn is running since %s, for %s, in task %s.",
				r.started.UTC().Format("15:04:05 MST"), time.Since(r.started).Round(time.Second), t.id)
		default:
			line = fmt.Sprintf("Task %s waits for its sender (%s).", t.id, t.status.State)
		}
	}
	return line, waiting
}

// lastTokens returns what the latest task of the context has used that says it.
func (e *Engine) lastTokens(asked *task) float64 {
	page, err := e.cfg.Journal.Tasks(e.root, store.Query{Context: asked.contextID, Limit: 10})
	if err != nil {
		e.log.Error("the tasks of a context could not be read", "err", err)
		return 0
	}
	for _, row := range page.Tasks {
		usage, _ := e.kept(row).Metadata[keys.Usage].(map[string]any)
		if total, ok := usage["totalTokens"].(float64); ok {
			return total
		}
	}
	return 0
}
