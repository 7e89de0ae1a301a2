package fakeplatform

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
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

// Delegate is what another workspace does: it gives h a task, and the platform hands it
// on. The id is the delegation's, and that of the message.
func (h *Handle) Delegate(from *Handle, task string) (id string) {
	var d *delegation
	h.p.locked(func() { d = from.p.give(from.ws, h.ws, task, "") })
	return d.id
}

// Delegated is how a delegation of the workspace's stands, and what came of it: the
// answer, or why there is none.
func (h *Handle) Delegated(id string) (status, outcome string) {
	h.p.locked(func() {
		if d := h.ws.taskBy(func(d *delegation) bool { return d.id == id }); d != nil {
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

func (p *Platform) delegate(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Target string `json:"target_id"`
		Task   string `json:"task"`
		Key    string `json:"idempotency_key"`
	}
	if !read(w, r, &body) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	target := p.find(body.Target)
	switch {
	case uuid.Validate(body.Target) != nil && target == nil:
		refuse(w, http.StatusBadRequest, "invalid target_id")
		return
	case body.Target == ws.ID:
		refuse(w, http.StatusBadRequest, "self-delegation not permitted")
		return
	case target == nil:
		refuse(w, http.StatusNotFound, "target workspace not found")
		return
	}
	if d := ws.taskBy(func(d *delegation) bool { return body.Key != "" && d.key == body.Key }); d != nil {
		answer(w, http.StatusOK, object{"delegation_id": d.id, "status": d.status, "target_id": d.target, "idempotent_hit": true})
		return
	}
	d := p.give(ws, target, body.Task, body.Key)
	answer(w, http.StatusAccepted, object{"delegation_id": d.id, "status": "delegated", "target_id": d.target})
}

// taskBy finds a delegation. The lock is held.
func (ws *workspace) taskBy(is func(*delegation) bool) *delegation {
	for _, d := range ws.tasks {
		if is(d) {
			return d
		}
	}
	return nil
}

// give starts a delegation. The lock is held.
func (p *Platform) give(from, to *workspace, task, key string) *delegation {
	d := &delegation{id: newID(), key: key, target: to.ID, task: task, status: "pending", at: time.Now(), rowIDs: [2]string{newID(), newID()}, from: from}
	p.begin(d)
	body := object{"method": "message/send", "params": map[string]any{"message": map[string]any{
		"role": "user", "messageId": d.id,
		"parts":    []any{map[string]any{"type": "text", "text": task}},
		"metadata": map[string]any{"delegation_id": d.id},
	}}}
	p.jobs.Go(func() {
		p.locked(func() { d.status = "dispatched" })
		reply := p.pass(p.ctx, to, from.ID, body)
		if reply.Status == http.StatusBadGateway || reply.Status == http.StatusServiceUnavailable {
			select {
			case <-time.After(p.RetryPause):
				reply = p.pass(p.ctx, to, from.ID, body)
			case <-p.ctx.Done():
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		switch reply.Status {
		case http.StatusAccepted:
			d.status = "queued"
		case http.StatusOK:
			// For a workspace that polls this is the note that the message waits.
			p.finish(d, "completed", replyText(reply.Body))
		default:
			p.finish(d, "failed", string(reply.Body))
		}
	})
	return d
}

// finish ends a delegation. The lock is held.
func (p *Platform) finish(d *delegation, status, text string) {
	d.status, d.ended = status, time.Now()
	if status == "completed" {
		d.preview = cut(text, 300)
	} else {
		d.failure = text
	}
	p.logEnd(d, text)
	p.tell()
}

// begin takes a delegation down, also in the log of activity. The lock is held.
func (p *Platform) begin(d *delegation) {
	d.from.tasks = append(d.from.tasks, d)
	request, _ := json.Marshal(object{"task": d.task, "delegation_id": d.id})
	p.log(d.from, row{
		ID: d.rowIDs[0], Type: "delegation", Method: "delegate", Source: maybe(d.from.ID), Target: maybe(d.target), Status: d.status,
		Summary: "Delegating to " + d.target, RequestBody: request, ResponseBody: json.RawMessage("null"),
	})
}

// logEnd writes the row of a delegation's end. That of a failure does not say which one
// it is of. The lock is held.
func (p *Platform) logEnd(d *delegation, text string) {
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
	p.log(d.from, r)
}

// settle ends the delegation whose message has waited. The lock is held.
func (p *Platform) settle(m *message, status, text string) {
	if from := p.workspaces[m.from]; from != nil {
		if d := from.taskBy(func(d *delegation) bool { return d.id == m.id }); d != nil {
			p.finish(d, status, text)
		}
	}
}

func (p *Platform) delegations(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []object{}
	for _, d := range slices.Backward(ws.tasks) {
		given := object{
			"id": d.rowIDs[0], "type": "delegation", "source_id": ws.ID, "target_id": d.target, "delegation_id": d.id,
			"summary": "Delegating to " + d.target, "status": d.status, "created_at": d.at.UTC(),
			"response_preview": `{"delegation_id":"` + d.id + `"}`,
		}
		if !d.ended.IsZero() {
			end := object{
				"id": d.rowIDs[1], "type": "delegation", "source_id": ws.ID, "target_id": d.target,
				"summary": "Delegation " + d.status, "status": d.status, "created_at": d.ended.UTC(),
			}
			if d.status == "completed" {
				end["delegation_id"], end["response_preview"] = d.id, d.preview
			} else {
				end["error"] = d.failure // and no delegation_id
			}
			out = append(out, end)
		}
		out = append(out, given)
	}
	answer(w, http.StatusOK, out[:min(len(out), 50)])
}

func (p *Platform) recordDelegation(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Target string `json:"target_id"`
		Task   string `json:"task"`
		ID     string `json:"delegation_id"`
	}
	if !read(w, r, &body) {
		return
	}
	if body.ID == "" || body.Target == "" {
		refuse(w, http.StatusBadRequest, "target_id and delegation_id are required")
		return
	}
	p.locked(func() {
		p.begin(&delegation{
			id: body.ID, target: body.Target, task: body.Task, status: "dispatched", at: time.Now(), rowIDs: [2]string{newID(), newID()}, from: ws,
		})
	})
	answer(w, http.StatusAccepted, object{"delegation_id": body.ID, "status": "recorded"})
}

func (p *Platform) updateDelegation(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Status  string `json:"status"`
		Error   string `json:"error"`
		Preview string `json:"response_preview"`
	}
	if !read(w, r, &body) {
		return
	}
	if body.Status != "completed" && body.Status != "failed" {
		refuse(w, http.StatusBadRequest, "status must be completed or failed")
		return
	}
	id := r.PathValue("delegation")
	p.mu.Lock()
	defer p.mu.Unlock()
	d := ws.taskBy(func(d *delegation) bool { return d.id == id })
	if d == nil {
		refuse(w, http.StatusNotFound, "delegation not found")
		return
	}
	text := body.Preview
	if body.Status == "failed" {
		text = body.Error
	}
	p.finish(d, body.Status, text)
	answer(w, http.StatusOK, object{"delegation_id": id, "status": body.Status})
}
