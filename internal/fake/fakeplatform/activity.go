package fakeplatform

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

func (p *Platform) activity(w http.ResponseWriter, r *http.Request, ws *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	rows := slices.Clone(ws.rows)
	slices.Reverse(rows)
	keep := func(ok func(*row) bool) {
		rows = slices.DeleteFunc(rows, func(r *row) bool { return !ok(r) })
	}
	if kind := q.Get("type"); kind != "" {
		keep(func(r *row) bool { return r.Type == kind })
	}
	switch q.Get("source") {
	case "canvas":
		keep(func(r *row) bool { return r.Source == nil })
	case "agent":
		keep(func(r *row) bool { return r.Source != nil })
	}
	if p.era >= JUN && !p.newerFilters(w, r, ws, &rows, keep) {
		return
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit <= 0 {
		limit = 100
	}
	answer(w, http.StatusOK, p.pageLocked(ws, rows[:min(len(rows), limit, 500)], q.Get("include") == "peer_info"))
}

// newerFilters are those that older platforms do not know: a cursor turns the order.
func (p *Platform) newerFilters(w http.ResponseWriter, r *http.Request, ws *workspace, rows *[]*row, keep func(func(*row) bool)) bool {
	q := r.URL.Query()
	if peer := q.Get("peer_id"); peer != "" {
		keep(func(r *row) bool { return value(r.Source) == peer || value(r.Target) == peer })
	}
	if before := q.Get("before_ts"); before != "" {
		at, err := time.Parse(time.RFC3339Nano, before)
		if err != nil {
			refuse(w, http.StatusBadRequest, "before_ts must be RFC3339")
			return false
		}
		keep(func(r *row) bool { return r.CreatedAt.Before(at) })
	}
	if text := q.Get("since_secs"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds <= 0 {
			refuse(w, http.StatusBadRequest, "since_secs must be a positive integer")
			return false
		}
		first := time.Now().Add(-time.Duration(min(seconds, 30*24*3600)) * time.Second)
		keep(func(r *row) bool { return !r.CreatedAt.Before(first) })
	}
	if id := q.Get("since_id"); id != "" {
		at := slices.IndexFunc(ws.rows, func(r *row) bool { return r.ID == id })
		if at < 0 {
			refuse(w, http.StatusGone, "since_id cursor not found (unknown, pruned or of another workspace)")
			return false
		}
		cursor := ws.rows[at].Seq
		keep(func(r *row) bool { return r.Seq > cursor })
		slices.Reverse(*rows)
	}
	return true
}

func (p *Platform) logActivity(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body row
	if !read(w, r, &body) {
		return
	}
	if !slices.Contains([]string{"a2a_send", "a2a_receive", "task_update", "agent_log", "skill_promotion", "memory_write", "error"}, body.Type) {
		refuse(w, http.StatusBadRequest, "invalid activity_type")
		return
	}
	if source := value(body.Source); source != "" && source != ws.ID {
		refuse(w, http.StatusForbidden, "source_id must be the workspace itself")
		return
	}
	body.ID, body.CreatedAt = "", time.Time{} // are the platform's
	p.locked(func() { p.logLocked(ws, body) })
	answer(w, http.StatusOK, object{"status": "logged"})
}

func (p *Platform) ackActivity(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Seq *int64 `json:"acked_seq"`
	}
	if !read(w, r, &body) {
		return
	}
	if body.Seq == nil || *body.Seq < 0 {
		refuse(w, http.StatusBadRequest, "acked_seq is required")
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ws.acked = max(ws.acked, *body.Seq)
	answer(w, http.StatusOK, object{"last_acked_seq": ws.acked})
}
