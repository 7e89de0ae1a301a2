package fakeplatform

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An Ask is a request to the user.
type Ask struct {
	ID       string `json:"-"`
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	Detail   string `json:"detail"`
	Priority string `json:"priority"`
}

type memory struct {
	ID        string    `json:"id"`
	Workspace string    `json:"workspace_id"`
	Content   string    `json:"content"`
	Scope     string    `json:"scope"`
	Namespace string    `json:"namespace"`
	CreatedAt time.Time `json:"created_at"`
}

func (p *Platform) workspaceRoutes() {
	p.own("GET /workspaces/{id}", p.info)
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
	if p.era == AUG {
		p.own("POST /workspaces/{id}/requests", p.ask)
	}
}

func (p *Platform) info(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, http.StatusOK, object{
		"id": ws.ID, "name": ws.Name, "role": orNull(ws.Role), "status": ws.status, "url": ws.url, "parent_id": orNull(ws.Parent),
		"tier": 2, "active_tasks": ws.active(), "agent_card": rawOrNull(ws.card),
	})
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

func (p *Platform) commit(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var m memory
	if !read(w, r, &m) {
		return
	}
	m.Scope = strings.ToUpper(m.Scope)
	switch {
	case m.Content == "" || m.Scope != "LOCAL" && m.Scope != "TEAM" && m.Scope != "GLOBAL" || len(m.Namespace) > 50:
		refuse(w, http.StatusBadRequest, "content and a scope of LOCAL, TEAM or GLOBAL are required")
		return
	case m.Scope == "GLOBAL" && ws.Parent != "":
		refuse(w, http.StatusForbidden, "only root workspaces can write GLOBAL memories")
		return
	}
	m.ID, m.Workspace, m.CreatedAt = newID(), ws.ID, time.Now().UTC()
	if m.Namespace == "" {
		m.Namespace = "general"
	}
	p.locked(func() {
		ws.memories = append(ws.memories, m)
		p.tell()
	})
	answer(w, http.StatusCreated, object{"id": m.ID, "scope": m.Scope, "namespace": m.Namespace})
}

func (p *Platform) recall(w http.ResponseWriter, r *http.Request, ws *workspace) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit <= 0 {
		limit = 50
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []memory{}
	for _, id := range p.order {
		other := p.workspaces[id]
		for _, m := range other.memories {
			visible := other == ws || m.Scope == "GLOBAL" || m.Scope == "TEAM" && other.Parent == ws.Parent
			wanted := (q.Get("scope") == "" && other == ws || m.Scope == q.Get("scope")) &&
				(q.Get("namespace") == "" || m.Namespace == q.Get("namespace")) &&
				strings.Contains(strings.ToLower(m.Content), strings.ToLower(q.Get("q")))
			if visible && wanted {
				out = append([]memory{m}, out...)
			}
		}
	}
	answer(w, http.StatusOK, out[:min(len(out), limit, 50)])
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

func (p *Platform) ask(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body Ask
	if !read(w, r, &body) {
		return
	}
	if body.Title == "" || body.Kind != "task" && body.Kind != "approval" {
		refuse(w, http.StatusBadRequest, "kind and title are required")
		return
	}
	body.ID = newID()
	p.locked(func() {
		ws.asks = append(ws.asks, body)
		p.tell()
	})
	answer(w, http.StatusCreated, object{"request_id": body.ID, "status": "pending"})
}
