// Package activity tells a workspace's platform what the turns do: which jobs are active, and a row for each tool that
// has finished. It watches jobs for that.
package activity

import (
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// Counted is an [executor.Watcher] that tells a platform which jobs are active, and how turns end. Nothing of it waits.
type Counted struct {
	Presence *presence.Presence
	Worked   func() // a turn has come to its end
}

// Watch implements [executor.Watcher].
func (c Counted) Watch(j executor.Job, _ string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	c.Presence.Began(j.ID, label(j))
	return c.observer(j.ID, next), func(error) { c.Presence.Ended(j.ID) }
}

// observer notes what becomes of a job. A job that waits for a login or for the end of a
// limit does not count: it would keep the platform from what it does with workspaces
// that are at rest, for as long as that takes. One that is part of the turn of another
// is counted there.
func (c Counted) observer(id string, next executor.Observer) executor.Observer {
	steered := false
	return func(event agent.Event) {
		switch event := event.(type) {
		case agent.Paused:
			c.Presence.Rests(id)
		case agent.Resumed:
			c.Presence.Resumes(id)
		case agent.Steered:
			steered = true
			c.Presence.Rests(id)
		case agent.Unsteered:
			steered = false
			c.Presence.Resumes(id)
		case agent.Ended:
			if !steered {
				c.ended(event)
			}
			defer c.Presence.Ended(id)
		}
		next(event)
	}
}

// ended counts a turn, unless its sender has ended it, or we have.
func (c Counted) ended(end agent.Ended) {
	switch {
	case end.Outcome == agent.Completed:
		c.Presence.Turn("")
		c.Worked()
	case end.Failure != nil && end.Failure.Kind == agent.FailShutdown:
	case end.Outcome == agent.Failed || end.Outcome == agent.Interrupted:
		text := string(end.Outcome)
		if end.Failure != nil && end.Failure.Message != "" {
			text = end.Failure.Message
		}
		c.Presence.Turn(text)
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
