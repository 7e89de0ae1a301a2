package fakeplatform

import (
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Delegate is what another workspace does: it gives h a task, and the platform hands it
// on. The id is the delegation's, and that of the message.
func (h *Handle) Delegate(from *Handle, task string) (id string) {
	var d *delegation
	h.p.locked(func() { d = from.p.giveLocked(from.ws, h.ws, task, "") })
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
	target := p.findLocked(body.Target)
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
	if d := ws.taskByLocked(func(d *delegation) bool { return body.Key != "" && d.key == body.Key }); d != nil {
		answer(w, http.StatusOK, object{"delegation_id": d.id, "status": d.status, "target_id": d.target, "idempotent_hit": true})
		return
	}
	d := p.giveLocked(ws, target, body.Task, body.Key)
	answer(w, http.StatusAccepted, object{"delegation_id": d.id, "status": "delegated", "target_id": d.target})
}

// giveLocked starts a delegation.
func (p *Platform) giveLocked(from, to *workspace, task, key string) *delegation {
	d := &delegation{id: newID(), key: key, target: to.ID, task: task, status: "pending", at: time.Now(), rowIDs: [2]string{newID(), newID()}, from: from}
	p.beginLocked(d)
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
			p.finishLocked(d, "completed", replyText(reply.Body))
		default:
			p.finishLocked(d, "failed", string(reply.Body))
		}
	})
	return d
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
		p.beginLocked(&delegation{
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
	d := ws.taskByLocked(func(d *delegation) bool { return d.id == id })
	if d == nil {
		refuse(w, http.StatusNotFound, "delegation not found")
		return
	}
	text := body.Preview
	if body.Status == "failed" {
		text = body.Error
	}
	p.finishLocked(d, body.Status, text)
	answer(w, http.StatusOK, object{"delegation_id": id, "status": body.Status})
}
