package fakeplatform

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A row is one of the activity log.
type row struct {
	ID           string          `json:"id"`
	Workspace    string          `json:"workspace_id"`
	Type         string          `json:"activity_type"`
	Source       *string         `json:"source_id"`
	Target       *string         `json:"target_id"`
	Method       string          `json:"method"`
	Summary      string          `json:"summary"`
	DurationMS   *int64          `json:"duration_ms"`
	Status       string          `json:"status"`
	ErrorDetail  *string         `json:"error_detail"`
	CreatedAt    time.Time       `json:"created_at"`
	Seq          int64           `json:"seq,omitempty"`
	RequestBody  json.RawMessage `json:"request_body"`
	ResponseBody json.RawMessage `json:"response_body"`
	PeerName     string          `json:"peer_name,omitempty"`
	PeerRole     string          `json:"peer_role,omitempty"`
	CardURL      string          `json:"agent_card_url,omitempty"`
	Attachments  []rowAttachment `json:"attachments,omitempty"`
}

// A Row is what a test sees of the activity log.
type Row struct {
	ID, Type, Source, Target, Method, Summary, Status, ErrorDetail string
	Seq                                                            int64
	RequestBody, ResponseBody                                      json.RawMessage
	At                                                             time.Time
}

// Rows is the workspace's activity log, oldest first.
func (h *Handle) Rows() []Row {
	return look(h, func(w *workspace) []Row {
		out := make([]Row, len(w.rows))
		for i, r := range w.rows {
			out[i] = Row{r.ID, r.Type, value(r.Source), value(r.Target), r.Method, r.Summary, r.Status, value(r.ErrorDetail), r.Seq, r.RequestBody, r.ResponseBody, r.CreatedAt}
		}
		return out
	})
}

// Inbox are those of the rows that a workspace which polls asks for.
func (h *Handle) Inbox() []Row {
	return slices.DeleteFunc(h.Rows(), func(r Row) bool { return r.Type != "a2a_receive" })
}

// Forget prunes all rows but the newest keep, as the platform does after days.
func (h *Handle) Forget(keep int) {
	h.p.locked(func() { h.ws.rows = h.ws.rows[max(0, len(h.ws.rows)-keep):] })
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func maybe(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// log adds a row. The lock is held.
func (p *Platform) log(ws *workspace, r row) {
	p.seq++
	r.Workspace = ws.ID
	if r.ID == "" {
		r.ID = newID()
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = time.Now().UTC()
	}
	r.Seq = p.seq
	ws.rows = append(ws.rows, &r)
	p.tell()
}

// rowOf is the row of a message: one for those of the same id to a workspace that
// polls. The lock is held.
func (p *Platform) rowOf(m *message, status string, answer []byte) {
	request, _ := json.Marshal(m.body)
	if m.to.deliveryMode == "poll" && m.id != "" {
		for _, r := range m.to.rows {
			if r.Type == "a2a_receive" && messageID(r.RequestBody) == m.id {
				return
			}
		}
	}
	r := row{
		Type: "a2a_receive", Method: m.method, Source: maybe(m.from), Target: maybe(m.to.ID), Status: status,
		Summary: cut(textOf(m.body), 256), RequestBody: request, ResponseBody: json.RawMessage("null"),
	}
	if json.Valid(answer) {
		r.ResponseBody = answer
	}
	p.log(m.to, r)
}

func messageID(request json.RawMessage) string {
	var body struct {
		Params struct {
			Message struct {
				ID string `json:"messageId"`
			} `json:"message"`
		} `json:"params"`
	}
	_ = json.Unmarshal(request, &body)
	return body.Params.Message.ID
}

func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}

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
	answer(w, http.StatusOK, p.page(ws, rows[:min(len(rows), limit, 500)], q.Get("include") == "peer_info"))
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
	p.locked(func() { p.log(ws, body) })
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
