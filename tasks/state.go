package tasks

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// now is the time as A2A wants to see it: in UTC, with three digits behind the
// second. Readers sort these as text, and JSON leaves out a zero at the end, so
// the last digit never is one.
func now() *time.Time {
	t := time.Now().UTC().Truncate(time.Millisecond)
	if t.Nanosecond()/int(time.Millisecond)%10 == 0 {
		t = t.Add(time.Millisecond)
	}
	return &t
}

// lock waits for the turn of a change of the task, which takes until that is committed. Readers do not
// wait for it: what they see is in the feed.
func (t *task) lock() { t.writing.Lock() }

// unlock shows what was changed under the lock.
func (t *task) unlock() {
	t.sync()
	t.writing.Unlock()
}

// touch notes a change.
func (t *state) touch() { t.cached, t.unseen = nil, true }

// sync shows what was changed, and is of no event.
func (t *state) sync() {
	if t.unseen {
		t.feed.Sync(t.face(), t.order())
		t.unseen = false
	}
}

// face is what is shown of the task beside its artifacts.
func (t *state) face() feed.Face {
	return feed.Face{Status: t.status, History: t.history, Meta: t.meta}
}

// order is that of the artifacts, nil if it is as it was when it was asked for last.
func (t *state) order() []*feed.Artifact {
	if !t.reordered {
		return nil
	}
	t.reordered = false
	order := make([]*feed.Artifact, len(t.artifacts))
	for i, a := range t.artifacts {
		order[i] = a.shownAs
	}
	return order
}

// snapshot returns the task as the caller has made it: it may not be shown yet.
func (t *state) snapshot() *a2a.Task {
	if t.cached == nil {
		t.cached = &a2a.Task{
			ID: t.id, ContextID: t.contextID,
			Status: t.status, History: slices.Clip(t.history), Metadata: t.meta,
		}
		for _, a := range t.artifacts {
			if a.shown {
				t.cached.Artifacts = append(t.cached.Artifacts, a.snapshot())
			}
		}
		t.cached.Artifacts = slices.Clip(t.cached.Artifacts)
	}
	return t.cached
}

// message makes a message of the agent's.
func (t *state) message(parts ...*a2a.Part) *a2a.Message {
	t.messages++
	m := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, parts...)
	m.ID = fmt.Sprintf("%s-%d", t.id, t.messages)
	return m
}

// note adds to the metadata; a nil value takes its key away.
func (t *state) note(add map[string]any) {
	meta := maps.Clone(t.meta)
	if meta == nil {
		meta = map[string]any{}
	}
	for key, value := range add {
		if value == nil {
			delete(meta, key)
		} else {
			meta[key] = value
		}
	}
	t.meta = meta
	t.touch()
}
