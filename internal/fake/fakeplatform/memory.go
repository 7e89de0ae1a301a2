package fakeplatform

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

type memory struct {
	ID        string    `json:"id"`
	Workspace string    `json:"workspace_id"`
	Content   string    `json:"content"`
	Scope     string    `json:"scope"`
	Namespace string    `json:"namespace"`
	CreatedAt time.Time `json:"created_at"`
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
			wanted := p.inScope(q.Get("scope"), m, other == ws) &&
				(q.Get("namespace") == "" || m.Namespace == q.Get("namespace")) &&
				strings.Contains(strings.ToLower(m.Content), strings.ToLower(q.Get("q")))
			if visible && wanted {
				out = append([]memory{m}, out...)
			}
		}
	}
	answer(w, http.StatusOK, out[:min(len(out), limit, 50)])
}

// inScope is where only the oldest platform filters: others answer with every scope.
func (p *Platform) inScope(scope string, m memory, own bool) bool {
	if scope == "" {
		return own
	}
	return p.era >= JUN || m.Scope == scope
}
