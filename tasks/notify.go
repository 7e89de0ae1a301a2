package tasks

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// largestRepeat bounds the task that receivers of A2A 0.3 get with each finished
// artifact. One that is larger they get with its states only: the task is all
// that 0.3 can send them, and what it holds already would come again each time.
const largestRepeat = 64 << 10

// notifyState puts a change of the state into the outbox, to be committed with
// it. What was told already is not told again. The caller holds t.mu and is about
// to commit the event.
func (t *task) notifyState(event *a2a.TaskStatusUpdateEvent) {
	if t.status.State == t.told && t.status.Message == nil {
		return
	}
	t.told = t.status.State
	if len(t.pushes) > 0 {
		t.notify(event, true)
	}
}

// notifyArtifact puts a finished artifact into the outbox. The caller holds t.mu
// and is about to publish it.
func (t *task) notifyArtifact(a *a2a.Artifact) {
	if len(t.pushes) == 0 {
		return
	}
	t.notify(&a2a.TaskArtifactUpdateEvent{TaskID: t.id, ContextID: t.contextID, LastChunk: true, Artifact: a}, false)
}

// notify puts a notification for each setting into the outbox. Its id is the
// place of the event that it speaks of.
func (t *task) notify(event a2a.Event, always bool) {
	if t.spare(always) {
		return
	}
	t.cached = nil
	id := string(t.id) + "/" + t.log.following(t.epoch).String()
	payloads := map[string][]byte{}
	for _, s := range t.pushes {
		payload, made := payloads[s.version]
		if !made {
			payload = t.payload(event, s.version, always)
			payloads[s.version] = payload
		}
		if payload != nil {
			t.send(push.Notification{ID: id, Version: s.version, Payload: payload}.Delivery(s.id))
		}
	}
}

// payload is what receivers of a version are told of an event; nil is nothing.
func (t *task) payload(event a2a.Event, version string, always bool) []byte {
	show := t.engine.cfg.Push.Show
	if version != push.V0 {
		if show != nil {
			event = show(event)
		}
		return encode(a2a.StreamResponse{Event: event})
	}
	task := t.snapshot()
	if !always && wireSize(task) > largestRepeat {
		return nil
	}
	if show != nil {
		task, _ = show(task).(*a2a.Task)
	}
	payload, err := t.engine.cfg.Push.TaskV0(task)
	if err != nil {
		t.engine.log.Error("a push notification could not be made", "task_id", t.id, "version", version, "err", err)
		return nil
	}
	return payload
}
