package fakeplatform

import (
	"encoding/json"
	"net/http"
)

func (p *Platform) register(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID           string          `json:"id"`
		URL          string          `json:"url"`
		Card         json.RawMessage `json:"agent_card"`
		DeliveryMode string          `json:"delivery_mode"`
		Kind         string          `json:"kind"`
	}
	if !read(w, r, &body) {
		return
	}
	var card map[string]any
	if body.ID == "" || json.Unmarshal(body.Card, &card) != nil || card == nil || p.era == APR && body.URL == "" {
		refuse(w, http.StatusBadRequest, invalidBody)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.workspaces[body.ID]
	switch bearer := bearerOf(r); {
	case ws == nil && p.era == APR: // makes it
		ws = newWorkspace(Workspace{ID: body.ID, NoToken: true})
	case ws == nil:
		refuse(w, http.StatusNotFound, "workspace not found")
		return
	case ws.token != "" && bearer == "":
		refuse(w, http.StatusUnauthorized, "missing workspace auth token")
		return
	case ws.token != "" && bearer != ws.token:
		refuse(w, http.StatusUnauthorized, "invalid workspace auth token")
		return
	case body.Kind == "platform":
		refuse(w, http.StatusForbidden, "kind platform is not assignable")
		return
	}
	mode := ws.deliveryMode
	if p.era >= JUN && body.DeliveryMode != "" {
		mode = body.DeliveryMode
	}
	if status, reason := p.badURL(body.URL, mode); status != 0 {
		refuse(w, status, reason)
		return
	}
	answer(w, http.StatusOK, p.registeredLocked(ws, body.URL, mode, body.Card))
}

// registeredLocked takes a registration, and says what is answered. One that is deleted is
// told the same, with a token that is good for nothing.
func (p *Platform) registeredLocked(ws *workspace, url, mode string, card json.RawMessage) object {
	out := object{"status": "registered"}
	if p.era >= JUN {
		out["delivery_mode"], out["platform_inbound_secret"] = mode, ws.secret
	}
	if ws.deleted {
		out["auth_token"] = newToken()
		return out
	}
	p.keepLocked(ws)
	ws.card, ws.deliveryMode = card, mode
	p.moveLocked(ws, url)
	if ws.status != "paused" && ws.status != "hibernated" {
		ws.status = "online"
	}
	if ws.token == "" {
		ws.token = newToken()
		out["auth_token"] = ws.token
	}
	return out
}

func (p *Platform) updateCard(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID   string          `json:"workspace_id"`
		Card json.RawMessage `json:"agent_card"`
	}
	if !read(w, r, &body) {
		return
	}
	if ws := p.authorized(w, r, body.ID); ws != nil {
		p.locked(func() { ws.card = body.Card })
		answer(w, http.StatusOK, object{"status": "updated"})
	}
}

func (p *Platform) checkAccess(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Caller string `json:"caller_id"`
		Target string `json:"target_id"`
	}
	if !read(w, r, &body) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a, b := p.findLocked(body.Caller), p.findLocked(body.Target)
	answer(w, http.StatusOK, object{"allowed": a != nil && b != nil && p.mayTalkLocked(a, b)})
}

func (p *Platform) discover(w http.ResponseWriter, r *http.Request) {
	self := r.Header.Get("X-Workspace-ID")
	if self == "" {
		refuse(w, http.StatusBadRequest, "X-Workspace-ID header is required")
		return
	}
	us := p.authorized(w, r, self)
	if us == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.findLocked(r.PathValue("id"))
	switch {
	case ws == nil:
		refuse(w, http.StatusNotFound, "workspace not found")
	case !p.mayTalkLocked(us, ws):
		refuse(w, http.StatusForbidden, "not authorized to discover this workspace")
	case ws.status != "online" && ws.status != "degraded":
		answer(w, http.StatusServiceUnavailable, object{"error": "workspace not available", "status": ws.status})
	default:
		answer(w, http.StatusOK, object{"id": ws.ID, "url": ws.url, "name": ws.Name})
	}
}

func (p *Platform) peers(w http.ResponseWriter, r *http.Request) {
	us := p.authorized(w, r, r.PathValue("id"))
	if us == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []object{}
	for _, id := range p.order {
		ws := p.findLocked(id)
		if ws == nil || ws == us || ws.Parent != us.Parent && ws.Parent != us.ID && us.Parent != ws.ID {
			continue
		}
		out = append(out, object{
			"id": ws.ID, "name": ws.Name, "role": orNull(ws.Role), "tier": 2, "status": ws.status, "url": ws.url,
			"parent_id": orNull(ws.Parent), "active_tasks": ws.activeLocked(), "agent_card": rawOrNull(ws.card),
		})
	}
	answer(w, http.StatusOK, out)
}

// state is behind the token, which ends with the workspace: of one that is deleted it
// says nothing.
func (p *Platform) state(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, http.StatusOK, object{"workspace_id": ws.ID, "status": ws.status, "paused": ws.paused, "deleted": false})
}
