package tasks

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// largestRepeat bounds the task that receivers of A2A 0.3 get with each event. One that is
// larger they get with its states only, and without what would come again each time: the
// task is all that 0.3 can send them.
const largestRepeat = 64 << 10

// notifyState puts a change of the state into the outbox, to be committed with it. What was told already
// is not told again. The event is about to be committed.
func (t *state) notifyState(event *a2a.TaskStatusUpdateEvent) {
	if t.status.State == t.told && t.status.Message == nil {
		return
	}
	t.told = t.status.State
	if len(t.pushes) > 0 {
		t.notify(event, true)
	}
}

// notifyArtifact puts a finished artifact into the outbox. It is about to be published.
func (t *state) notifyArtifact(a *a2a.Artifact) {
	if len(t.pushes) == 0 {
		return
	}
	t.notify(&a2a.TaskArtifactUpdateEvent{TaskID: t.id, ContextID: t.contextID, LastChunk: true, Artifact: a}, false)
}

// notify puts a notification for each setting into the outbox. A state for which there is
// not enough room is told without all else.
func (t *state) notify(event a2a.Event, isState bool) {
	if t.spare(isState) {
		return
	}
	t.touch()
	all := t.deliveries(func(version string) []byte { return t.payload(event, version, isState) })
	if !t.reserve(all) {
		if !isState {
			t.engine.cfg.Metrics.PushesDropped(len(all))
			return
		}
		all = t.deliveries(t.stateOnly)
	}
	for _, d := range all {
		t.send(d)
	}
}

// deliveries makes what goes to the settings, from a payload for each version; nil goes to
// none. Those of a version share a body. Their id is the place of the event that they are of.
func (t *state) deliveries(payload func(version string) []byte) []store.Delivery {
	id := string(t.id) + "/" + t.feed.Following(t.epoch).String()
	made := map[string]store.Delivery{}
	var all []store.Delivery
	for _, r := range t.pushes {
		d, ok := made[r.version]
		if !ok {
			if body := payload(r.version); body != nil {
				d = push.Notification{ID: id, Version: r.version, Payload: body}.Delivery()
			}
			made[r.version] = d
		}
		if d.Body != nil {
			d.Target = r.id
			all = append(all, d)
		}
	}
	return all
}

// payload is what receivers of a version are told of an event; nil is nothing.
func (t *state) payload(event a2a.Event, version string, isState bool) []byte {
	show := t.engine.cfg.Push.Show
	if version != push.V0 {
		if show != nil {
			event = show(event)
		}
		return codec.Encode(a2a.StreamResponse{Event: event})
	}
	task := t.snapshot()
	if sizes.OfTask(task) > largestRepeat {
		if !isState {
			return nil
		}
		task = withoutRepeats(task)
	}
	if show != nil {
		task, _ = show(task).(*a2a.Task)
	}
	return t.encodeV0(task)
}

// withoutRepeats is a large task without its history, and, if it is large still and has not ended,
// without its artifacts.
func withoutRepeats(whole *a2a.Task) *a2a.Task {
	task := *whole
	task.History = nil
	if !task.Status.State.Terminal() && sizes.OfTask(&task) > largestRepeat {
		task.Artifacts = nil
	}
	return &task
}

// stateOnly is the least that receivers of a version are told of a state.
func (t *state) stateOnly(version string) []byte {
	status := a2a.TaskStatus{State: t.status.State, Timestamp: t.status.Timestamp}
	if version != push.V0 {
		return codec.Encode(a2a.StreamResponse{Event: &a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: status}})
	}
	return t.encodeV0(&a2a.Task{ID: t.id, ContextID: t.contextID, Status: status})
}

func (t *state) encodeV0(task *a2a.Task) []byte {
	payload, err := t.engine.cfg.Push.TaskV0(task)
	if err != nil {
		t.engine.log.Error("a push notification could not be made", "task_id", t.id, "version", push.V0, "err", err)
		return nil
	}
	return payload
}
