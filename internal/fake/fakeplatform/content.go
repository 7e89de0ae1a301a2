package fakeplatform

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// info is for everyone. It is also what tells of a deletion.
func (p *Platform) info(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.workspaces[r.PathValue("id")]
	switch {
	case ws == nil:
		refuse(w, http.StatusNotFound, "workspace not found")
	case ws.deleted && p.era >= JUN:
		answer(w, http.StatusGone, object{"error": "workspace removed", "id": ws.ID})
	default:
		answer(w, http.StatusOK, object{
			"id": ws.ID, "name": ws.Name, "role": orNull(ws.Role), "status": ws.status, "url": ws.url, "parent_id": orNull(ws.Parent),
			"tier": 2, "active_tasks": ws.activeLocked(), "agent_card": rawOrNull(ws.card),
		})
	}
}

func (p *Platform) secrets(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]string{}
	maps.Copy(out, ws.Secrets)
	answer(w, http.StatusOK, out)
}

func (p *Platform) instructions(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, http.StatusOK, object{"workspace_id": ws.ID, "instructions": ws.Instructions})
}

// shared is read by children too, with their own token.
func (p *Platform) shared(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws, reader := p.findLocked(r.PathValue("id")), p.findLocked(r.Header.Get("X-Workspace-ID"))
	bearer := bearerOf(r)
	switch {
	case ws == nil || bearer == "":
		refuse(w, http.StatusUnauthorized, "missing workspace auth token")
	case bearer != ws.token && (reader == nil || reader.Parent != ws.ID || bearer != reader.token):
		refuse(w, http.StatusUnauthorized, "invalid workspace auth token")
	default:
		answer(w, http.StatusOK, append([]SharedFile{}, ws.Shared...))
	}
}

func (p *Platform) install(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Source string `json:"source"`
	}
	if !read(w, r, &body) {
		return
	}
	_, name, ok := strings.Cut(body.Source, "://")
	if !ok || name == "" {
		refuse(w, http.StatusBadRequest, "source must be scheme://spec")
		return
	}
	if p.era == JUN && ws.provisioned == "" {
		answer(w, http.StatusUnprocessableEntity, object{
			"error": "plugins cannot be installed into an external workspace",
			"hint":  "the workspace fetches the plugin itself",
		})
		return
	}
	p.locked(func() {
		ws.plugins = append(ws.plugins, body.Source)
		p.tell()
	})
	answer(w, http.StatusOK, object{"status": "installed", "plugin": name, "source": body.Source})
}

func (p *Platform) broadcast(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Message string `json:"message"`
	}
	if !read(w, r, &body) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, id := range p.order {
		if to := p.findLocked(id); to != nil && to != ws && p.mayTalkLocked(ws, to) {
			p.logLocked(to, row{Type: "a2a_receive", Method: "broadcast", Source: maybe(ws.ID), Target: maybe(to.ID), Status: "ok", Summary: cut(body.Message, 256)})
			n++
		}
	}
	answer(w, http.StatusOK, object{"status": "sent", "delivered": n})
}

// delete is the user's: it is done, and then fails at the container, for there is no
// Docker here, as there was none where this was seen.
func (p *Platform) delete(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.findLocked(r.PathValue("id"))
	if ws == nil {
		refuse(w, http.StatusNotFound, "workspace not found")
		return
	}
	ws.removeLocked()
	p.tell()
	refuse(w, http.StatusInternalServerError, "Cannot connect to the Docker daemon")
}

// transcript asks the workspace, at the address that its agent card has.
func (p *Platform) transcript(w http.ResponseWriter, r *http.Request, ws *workspace) {
	p.mu.Lock()
	var card struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(ws.card, &card)
	secret := ws.secret
	p.mu.Unlock()
	if card.URL == "" {
		refuse(w, http.StatusNotFound, "the workspace has no URL in its agent card")
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, strings.TrimRight(card.URL, "/")+"/transcript?"+r.URL.RawQuery, nil)
	if err != nil {
		refuse(w, http.StatusBadGateway, "workspace cannot be reached")
		return
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	p.through(w, req)
}
