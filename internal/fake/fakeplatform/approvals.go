package fakeplatform

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	pending  = "pending"
	approved = "approved"
	denied   = "denied"

	approvalLife  = 10 * time.Minute
	mostApprovals = 50
)

// approvals is the list of a workspace's own, the newest first.
func (p *Platform) approvals(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	list := []object{}
	for _, ask := range slices.Backward(ws.asks) {
		if len(list) == mostApprovals {
			break
		}
		one := object{"id": ask.ID, "task_id": ask.Task, "action": ask.Title, "reason": ask.Detail, "status": ask.Status,
			"decided_by": nil, "decided_at": nil, "created_at": ask.Created}
		if ask.Status != pending {
			one["decided_by"], one["decided_at"] = ask.DecidedBy, ask.decided
		}
		list = append(list, one)
	}
	p.mu.Unlock()
	answer(w, http.StatusOK, list)
}

// decideApproval is for the canvas, and for the workspace itself.
func (p *Platform) decideApproval(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Decision  string `json:"decision"`
		DecidedBy string `json:"decided_by"`
	}
	if !read(w, r, &body) {
		return
	}
	if body.Decision != approved && body.Decision != denied {
		refuse(w, http.StatusBadRequest, "decision must be 'approved' or 'denied'")
		return
	}
	id := r.PathValue("approval")
	var done bool
	p.locked(func() { done = p.decideLocked(ws, id, body.Decision, cmp.Or(body.DecidedBy, "human")) })
	if !done {
		refuse(w, http.StatusNotFound, "approval not found or already decided")
		return
	}
	answer(w, http.StatusOK, object{"status": body.Decision, "approval_id": id})
}

// decideLocked notes what was decided of a request that is pending.
func (p *Platform) decideLocked(ws *workspace, id, decision, by string) bool {
	i := slices.IndexFunc(ws.asks, func(a *Ask) bool { return a.ID == id && a.Status == pending })
	if i < 0 {
		return false
	}
	ask := ws.asks[i]
	ask.Status, ask.DecidedBy, ask.decided = decision, by, time.Now()
	p.tell()
	return true
}

// Expire is a canvas that looks at the approvals of the oldest platform when so much time has gone by.
func (h *Handle) Expire(after time.Duration) {
	h.p.locked(func() {
		for _, ask := range h.ws.asks {
			if ask.Status == pending && time.Since(ask.Created)+after > approvalLife {
				h.p.decideLocked(h.ws, ask.ID, denied, "auto-expired")
			}
		}
	})
}

// Press is the user who presses a button of a request. What the newer platform sends then is assumed:
// see [Decision].
func (h *Handle) Press(ctx context.Context, id string, approve bool) (Reply, error) {
	decision := denied
	if approve {
		decision = approved
	}
	var done bool
	h.p.locked(func() { done = h.p.decideLocked(h.ws, id, decision, "human") })
	if !done && h.p.era == APR {
		return Reply{}, fmt.Errorf("request %s is not pending", id)
	}
	if h.p.era == APR {
		return Reply{}, nil
	}
	return h.Send(ctx, Decision(id, decision))
}

// Decision is a message that tells of one.
func Decision(id, decision string) string {
	text := fmt.Sprintf("Request %s was %s by the user.", id, decision)
	body, _ := json.Marshal(object{"method": "message/send", "params": object{
		"message":  object{"role": "user", "parts": []object{{"kind": "text", "text": text}}},
		"metadata": object{"source": "platform", "request_id": id, "decision": decision},
	}})
	return string(body)
}
