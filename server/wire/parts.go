package wire

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A PartMap changes parts on their way out: those that it concerns. What needs no change
// is shared with the original.
type PartMap struct {
	Concerns func(*a2a.Part) bool
	Change   func(*a2a.Part) *a2a.Part
}

func (m PartMap) event(event a2a.Event) a2a.Event {
	switch e := event.(type) {
	case *a2a.Task:
		if e == nil {
			return event
		}
		return m.task(e)
	case *a2a.Message:
		return m.message(e)
	case *a2a.TaskStatusUpdateEvent:
		message := m.message(e.Status.Message)
		if message == e.Status.Message {
			return e
		}
		out := *e
		out.Status.Message = message
		return &out
	case *a2a.TaskArtifactUpdateEvent:
		artifact := m.Artifact(e.Artifact)
		if artifact == e.Artifact {
			return e // as nearly all of them
		}
		out := *e
		out.Artifact = artifact
		return &out
	}
	return event
}

func (m PartMap) task(t *a2a.Task) *a2a.Task {
	out := *t
	out.Artifacts, out.History = each(t.Artifacts, m.Artifact), each(t.History, m.message)
	out.Status.Message = m.message(t.Status.Message)
	return &out
}

func (m PartMap) message(message *a2a.Message) *a2a.Message {
	if message == nil || !slices.ContainsFunc(message.Parts, m.Concerns) {
		return message
	}
	out := *message
	out.Parts = m.parts(message.Parts)
	return &out
}

// Artifact returns a with its parts changed.
func (m PartMap) Artifact(a *a2a.Artifact) *a2a.Artifact {
	if a == nil || !slices.ContainsFunc(a.Parts, m.Concerns) {
		return a
	}
	out := *a
	out.Parts = m.parts(a.Parts)
	return &out
}

func (m PartMap) parts(parts a2a.ContentParts) a2a.ContentParts {
	return each(parts, func(p *a2a.Part) *a2a.Part {
		if !m.Concerns(p) {
			return p
		}
		return m.Change(p)
	})
}

// each maps a slice.
func each[S ~[]E, E any](in S, f func(E) E) S {
	out := make(S, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}
