package fakeplatform

import (
	"encoding/json"
	"net/http"
	"time"
)

// A Beat is a heartbeat as it came.
type Beat struct {
	At           time.Time       `json:"-"`
	ID           string          `json:"workspace_id"`
	ErrorRate    float64         `json:"error_rate"`
	SampleError  string          `json:"sample_error"`
	ActiveTasks  int             `json:"active_tasks"`
	CurrentTask  string          `json:"current_task"`
	Uptime       int64           `json:"uptime_seconds"`
	RuntimeState string          `json:"runtime_state"`
	Metadata     json.RawMessage `json:"runtime_metadata"`
	Card         json.RawMessage `json:"agent_card"`
	LoadedTools  []string        `json:"loaded_mcp_tools"`
}

func (p *Platform) heartbeat(w http.ResponseWriter, r *http.Request) {
	var beat Beat
	if !read(w, r, &beat) {
		return
	}
	ws := p.beater(w, r, beat.ID)
	if ws == nil {
		return
	}
	beat.At = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	ws.beats = append(ws.beats, beat)
	if len(ws.card) == 0 && len(beat.Card) > 0 {
		ws.card = beat.Card
	}
	ws.status = nextStatus(ws.status, beat)
	for timer := range ws.alive {
		timer.Reset(p.IdleWindow)
	}
	if ws.status == "online" {
		p.drainLocked(ws, beat.ActiveTasks)
	}
	out := object{"status": "ok"}
	if p.era >= JUN && !ws.deleted {
		out["platform_inbound_secret"] = ws.secret
	}
	answer(w, http.StatusOK, out)
}

// beater is the workspace that a heartbeat is of, or nil if it is refused: of one that
// is deleted each is taken, for it has no token that could be asked for.
func (p *Platform) beater(w http.ResponseWriter, r *http.Request, id string) *workspace {
	p.mu.Lock()
	ws := p.workspaces[id]
	deleted := ws != nil && ws.deleted
	p.mu.Unlock()
	if deleted {
		return ws
	}
	return p.authorized(w, r, id)
}

// nextStatus is what a heartbeat makes of a workspace's status.
func nextStatus(status string, beat Beat) string {
	switch status {
	case "offline", "provisioning", "awaiting_agent":
		status = "online"
	}
	switch {
	case status == "online" && (beat.RuntimeState == "wedged" || beat.ErrorRate >= 0.5):
		return "degraded"
	case status == "degraded" && beat.RuntimeState == "" && beat.ErrorRate < 0.1:
		return "online"
	}
	return status
}
