package fakeplatform

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// SendFrom is [Handle.Send] of another workspace, through the platform.
func (h *Handle) SendFrom(ctx context.Context, from *Handle, request string) (Reply, error) {
	var body object
	if err := json.Unmarshal([]byte(request), &body); err != nil {
		return Reply{}, err
	}
	return h.p.pass(ctx, h.ws, from.ws.ID, body), nil
}

// SayFrom is [Handle.SendFrom] of a text.
func (h *Handle) SayFrom(ctx context.Context, from *Handle, text string) (Reply, error) {
	return h.SendFrom(ctx, from, `{"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":`+quote(text)+`}]}}}`)
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
		h.p.log(h.ws, row{
			ID: r.ID, Type: kind, Source: maybe(r.Source), Target: maybe(r.Target), Method: r.Method, Summary: r.Summary, Status: status,
			ErrorDetail: maybe(r.ErrorDetail), CreatedAt: r.At, RequestBody: r.RequestBody, ResponseBody: r.ResponseBody,
		})
	})
	return r.ID
}

// RepeatRows has the first n rows of each page stand there twice.
func (h *Handle) RepeatRows(n int) { h.p.locked(func() { h.ws.repeats = n }) }

// Mute switches the workspace's messages to its user off, or on again.
func (h *Handle) Mute(on bool) { h.p.locked(func() { h.ws.mute = on }) }

// muted refuses what would reach the user of a workspace that must not talk to it. The
// hint is meant for the model.
func (p *Platform) muted(w http.ResponseWriter, ws *workspace) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ws.mute {
		answer(w, http.StatusForbidden, object{"error": "talk_to_user_disabled", "hint": "the user has switched messages of this workspace off"})
	}
	return ws.mute
}

// A rowAttachment is a file of a row's message.
type rowAttachment struct {
	Kind     string `json:"kind"`
	URI      string `json:"uri"`
	MimeType string `json:"mime_type,omitempty"`
	Name     string `json:"name,omitempty"`
}

// page is what is shown of the rows, with what is known of their senders if that is
// asked for; older platforms know nothing. The lock is held.
func (p *Platform) page(ws *workspace, rows []*row, senders bool) []row {
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
