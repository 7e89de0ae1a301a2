// Package activity tells a workspace's platform what the turns do: which jobs are active, and a row for each tool that
// has finished. It hears of them as the observer of jobs.
package activity

import (
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A Turner is all that tasks use of what makes turns of their messages.
type Turner interface {
	tasks.Runner
	tasks.Steerer
	tasks.Answerer
	tasks.Holder
	tasks.Bounded
}

// counted is an executor whose jobs the platform is told of. Nothing of it waits.
type counted struct {
	Turner
	presence *presence.Presence
	worked   func() // a turn has come to its end
}

// Counted returns a runner whose jobs a platform is told of; worked is called when a turn has come to its end.
func Counted(runner Turner, presence *presence.Presence, worked func()) Turner {
	return counted{runner, presence, worked}
}

// Submit implements [tasks.Runner].
func (c counted) Submit(j executor.Job, observe executor.Observer) (ahead int, err error) {
	c.presence.Began(j.ID, label(j))
	ahead, err = c.Turner.Submit(j, c.watch(j.ID, observe))
	if err != nil {
		c.presence.Ended(j.ID)
	}
	return ahead, err
}

// Steer implements [tasks.Steerer].
func (c counted) Steer(into string, j executor.Job, observe executor.Observer) error {
	c.presence.Began(j.ID, label(j))
	err := c.Turner.Steer(into, j, c.watch(j.ID, observe))
	if err != nil {
		c.presence.Ended(j.ID)
	}
	return err
}

// watch notes what becomes of a job. A job that waits for a login or for the end of a
// limit does not count: it would keep the platform from what it does with workspaces
// that are at rest, for as long as that takes. One that is part of the turn of another
// is counted there.
func (c counted) watch(id string, observe executor.Observer) executor.Observer {
	steered := false
	return func(event agent.Event) {
		switch event := event.(type) {
		case agent.Paused:
			c.presence.Rests(id)
		case agent.Resumed:
			c.presence.Resumes(id)
		case agent.Steered:
			steered = true
			c.presence.Rests(id)
		case agent.Unsteered:
			steered = false
			c.presence.Resumes(id)
		case agent.Ended:
			if !steered {
				c.ended(event)
			}
			defer c.presence.Ended(id)
		}
		observe(event)
	}
}

// ended counts a turn, unless its sender has ended it, or we have.
func (c counted) ended(end agent.Ended) {
	switch {
	case end.Outcome == agent.Completed:
		c.presence.Turn("")
		c.worked()
	case end.Failure != nil && end.Failure.Kind == agent.FailShutdown:
	case end.Outcome == agent.Failed || end.Outcome == agent.Interrupted:
		text := string(end.Outcome)
		if end.Failure != nil && end.Failure.Message != "" {
			text = end.Failure.Message
		}
		c.presence.Turn(text)
	}
}

// label is what a job is about, in the words of its sender, if that is no other agent: the platform
// shows it as what this one does.
func label(j executor.Job) string {
	if j.Peer {
		return "a message of another agent"
	}
	for _, input := range j.Input {
		if input.Text != "" {
			return input.Text
		}
	}
	return "a message without text"
}
