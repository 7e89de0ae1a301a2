package fakeplatform

import (
	"maps"
	"net/http"
	"strings"
)

func (p *Platform) workspaceRoutes() {
	p.mux.HandleFunc("GET /workspaces/{id}", p.info)
	p.mux.HandleFunc("DELETE /workspaces/{id}", p.delete)
	p.own("GET /workspaces/{id}/secrets/values", p.secrets)
	p.own("GET /workspaces/{id}/instructions/resolve", p.instructions)
	p.own("GET /workspaces/{id}/github-installation-token", func(w http.ResponseWriter, _ *http.Request, _ *workspace) {
		refuse(w, http.StatusNotFound, "no GitHub installation")
	})
	p.own("POST /workspaces/{id}/memories", p.commit)
	p.own("GET /workspaces/{id}/memories", p.recall)
	p.own("POST /workspaces/{id}/plugins", p.install)
	p.mux.HandleFunc("GET /workspaces/{id}/shared-context", p.shared)
	p.own("POST /workspaces/{id}/broadcast", p.broadcast)
	p.own("GET /workspaces/{id}/transcript", p.transcript)
	if p.era == APR {
		p.own("POST /workspaces/{id}/approvals", p.approve)
	} else {
		p.own("POST /workspaces/{id}/requests", p.ask)
	}
}

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
			"tier": 2, "active_tasks": ws.active(), "agent_card": rawOrNull(ws.card),
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
	ws, reader := p.find(r.PathValue("id")), p.find(r.Header.Get("X-Workspace-ID"))
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
		if to := p.find(id); to != nil && to != ws && p.mayTalk(ws, to) {
			p.log(to, row{Type: "a2a_receive", Method: "broadcast", Source: maybe(ws.ID), Target: maybe(to.ID), Status: "ok", Summary: cut(body.Message, 256)})
			n++
		}
	}
	answer(w, http.StatusOK, object{"status": "sent", "delivered": n})
}
