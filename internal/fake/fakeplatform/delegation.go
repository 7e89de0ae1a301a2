package fakeplatform

import (
	"encoding/json"
	"time"
)

// A delegation is a task that one workspace has given to another.
type delegation struct {
	id, key, target, task string
	status                string
	preview, failure      string
	at, ended             time.Time
	rowIDs                [2]string // of the task and of its end
	from                  *workspace
}

// Delegated is how a delegation of the workspace's stands, and what came of it: the
// answer, or why there is none.
func (h *Handle) Delegated(id string) (status, outcome string) {
	h.p.locked(func() {
		if d := h.ws.taskByLocked(func(d *delegation) bool { return d.id == id }); d != nil {
			status, outcome = d.status, d.preview+d.failure
		}
	})
	return status, outcome
}

// AddDelegation puts a delegation of the workspace's into the list as it stands.
func (h *Handle) AddDelegation(target, status, preview, failure string) (id string) {
	d := &delegation{id: newID(), target: target, task: "a task", status: status, preview: preview, failure: failure, at: time.Now(), ended: time.Now(), rowIDs: [2]string{newID(), newID()}, from: h.ws}
	h.p.locked(func() { h.ws.tasks = append(h.ws.tasks, d) })
	return d.id
}

// taskByLocked finds a delegation.
func (ws *workspace) taskByLocked(is func(*delegation) bool) *delegation {
	for _, d := range ws.tasks {
		if is(d) {
			return d
		}
	}
	return nil
}

// finishLocked ends a delegation.
func (k *world) finishLocked(d *delegation, status, text string) {
	d.status, d.ended = status, time.Now()
	if status == "completed" {
		d.preview = cut(text, 300)
	} else {
		d.failure = text
	}
	k.logEndLocked(d, text)
	k.tell()
}

// beginLocked takes a delegation down, also in the log of activity.
func (k *world) beginLocked(d *delegation) {
	d.from.tasks = append(d.from.tasks, d)
	request, _ := json.Marshal(object{"task": d.task, "delegation_id": d.id})
	k.logLocked(d.from, row{
		ID: d.rowIDs[0], Type: "delegation", Method: "delegate", Source: maybe(d.from.ID), Target: maybe(d.target), Status: d.status,
		Summary: "Delegating to " + d.target, RequestBody: request, ResponseBody: json.RawMessage("null"),
	})
}

// logEndLocked writes the row of a delegation's end. That of a failure does not say which one
// it is of.
func (k *world) logEndLocked(d *delegation, text string) {
	r := row{
		ID: d.rowIDs[1], Type: "delegation", Method: "delegate_result", Source: maybe(d.from.ID), Target: maybe(d.target), Status: d.status,
		Summary: "Delegation " + d.status, RequestBody: json.RawMessage("null"), ResponseBody: json.RawMessage("null"),
	}
	if d.status == "completed" {
		r.ResponseBody, _ = json.Marshal(object{"text": text, "delegation_id": d.id})
		r.Summary += " (" + cut(text, 80) + ")"
	} else {
		r.ErrorDetail = maybe(text)
	}
	k.logLocked(d.from, r)
}

// settleLocked ends the delegation whose message has waited.
func (k *world) settleLocked(m *message, status, text string) {
	if from := k.workspaces[m.from]; from != nil {
		if d := from.taskByLocked(func(d *delegation) bool { return d.id == m.id }); d != nil {
			k.finishLocked(d, status, text)
		}
	}
}
