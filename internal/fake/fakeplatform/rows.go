package fakeplatform

import (
	"encoding/json"
	"slices"
	"strings"
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

// logLocked adds a row.
func (k *world) logLocked(ws *workspace, r row) {
	k.seq++
	r.Workspace = ws.ID
	if r.ID == "" {
		r.ID = newID()
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = time.Now().UTC()
	}
	r.Seq = k.seq
	ws.rows = append(ws.rows, &r)
	k.tell()
}

// rowOfLocked is the row of a message: one for those of the same id to a workspace that
// polls.
func (k *world) rowOfLocked(m *message, status string, answer []byte) {
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
	k.logLocked(m.to, r)
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

// AddRow writes a row into the activity log, and returns its id. It may be one that no
// platform writes: what is empty is filled in with what rows of the inbox have, its
// number and the workspace are the platform's.
func (h *Handle) AddRow(r Row) (id string) {
	status, kind := r.Status, r.Type
	if status == "" {
		status = "ok"
	}
	if kind == "" {
		kind = "a2a_receive"
	}
	if r.ID == "" {
		r.ID = newID()
	}
	h.p.locked(func() {
		h.p.logLocked(h.ws, row{
			ID: r.ID, Type: kind, Source: maybe(r.Source), Target: maybe(r.Target), Method: r.Method, Summary: r.Summary, Status: status,
			ErrorDetail: maybe(r.ErrorDetail), CreatedAt: r.At, RequestBody: r.RequestBody, ResponseBody: r.ResponseBody,
		})
	})
	return r.ID
}

// A rowAttachment is a file of a row's message.
type rowAttachment struct {
	Kind     string `json:"kind"`
	URI      string `json:"uri"`
	MimeType string `json:"mime_type,omitempty"`
	Name     string `json:"name,omitempty"`
}

// pageLocked is what is shown of the rows, with what is known of their senders if that is
// asked for; older platforms know nothing.
func (p *Platform) pageLocked(ws *workspace, rows []*row, senders bool) []row {
	out := make([]row, 0, len(rows))
	for i, r := range rows {
		shown := *r
		if p.era != AUG {
			shown.Seq = 0
		}
		if p.era == AUG && senders {
			shown.Attachments = attachmentsOf(r.RequestBody)
			if peer := p.workspaces[value(r.Source)]; peer != nil {
				shown.PeerName, shown.PeerRole, shown.CardURL = peer.Name, peer.Role, p.URL+"/registry/discover/"+peer.ID
			}
		}
		out = append(out, shown)
		if i < ws.repeats {
			out = append(out, shown)
		}
	}
	return out
}

func attachmentsOf(request json.RawMessage) []rowAttachment {
	var body struct {
		Params struct {
			Message struct {
				Parts []struct {
					File struct{ URI, Name, MimeType string }
				}
			}
		}
	}
	_ = json.Unmarshal(request, &body)
	var out []rowAttachment
	for _, part := range body.Params.Message.Parts {
		if part.File.URI == "" {
			continue
		}
		kind, _, _ := strings.Cut(part.File.MimeType, "/")
		if kind != "image" && kind != "audio" && kind != "video" {
			kind = "file"
		}
		out = append(out, rowAttachment{kind, part.File.URI, part.File.MimeType, part.File.Name})
	}
	return out
}

// RepeatRows has the first n rows of each page stand there twice.
func (h *Handle) RepeatRows(n int) { h.p.locked(func() { h.ws.repeats = n }) }
