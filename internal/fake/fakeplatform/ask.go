package fakeplatform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// What is known of requests to the user. Of the oldest platform all is read in its source: requests are
// approvals, whose title is the action and whose detail the reason; the workspace lists its newest 50 and
// decides, as the canvas does; those that are older than ten minutes are denied whenever a canvas looks;
// no message tells of a decision; a workspace that must not talk to its user asks all the same. Of the
// newer one it is measured that a request is taken and answered with its id. That the decision comes as
// a message is read in its documents, and the form of that, and that a muted workspace is refused, are
// assumed.

// An Ask is a request to the user.
type Ask struct {
	ID       string `json:"-"`
	Task     string `json:"-"` // of the oldest platform
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	Detail   string `json:"detail"`
	Priority string `json:"priority"`

	Status    string    `json:"-"` // pending, approved or denied
	DecidedBy string    `json:"-"`
	Created   time.Time `json:"-"`
	decided   time.Time
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
	p.asked(w, ws, "request_id", body)
}

// approve is the way of the oldest platform.
func (p *Platform) approve(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Task   string `json:"task_id"`
		Action string `json:"action"`
		Reason string `json:"reason"`
	}
	if !read(w, r, &body) {
		return
	}
	if body.Action == "" {
		refuse(w, http.StatusBadRequest, invalidBody)
		return
	}
	p.asked(w, ws, "approval_id", Ask{Kind: "approval", Task: body.Task, Title: body.Action, Detail: body.Reason})
}

// asked has the user see the request.
func (p *Platform) asked(w http.ResponseWriter, ws *workspace, key string, ask Ask) {
	if p.era >= JUN && p.muted(w, ws) {
		return
	}
	ask.ID, ask.Status, ask.Created = newID(), pending, time.Now()
	p.locked(func() {
		ws.asks = append(ws.asks, &ask)
		p.tell()
	})
	answer(w, http.StatusCreated, object{key: ask.ID, "status": "pending"})
}

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

// A Notice is something that the user was told.
type Notice struct {
	Message     string       `json:"message"`
	Attachments []Attachment `json:"attachments"`
}

// An Attachment is a file that a notice names.
type Attachment struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mimeType"`
	Size     int64  `json:"size"`
}

func (p *Platform) notify(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var notice Notice
	if !read(w, r, &notice) {
		return
	}
	if notice.Message == "" {
		refuse(w, http.StatusBadRequest, "message is required")
		return
	}
	for i, file := range notice.Attachments {
		if file.URI == "" || file.Name == "" {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("attachment[%d]: uri and name are required", i))
			return
		}
	}
	if p.muted(w, ws) {
		return
	}
	body, _ := json.Marshal(notice)
	p.locked(func() {
		ws.notices = append(ws.notices, notice)
		p.logLocked(ws, row{
			Type: "a2a_receive", Method: "notify", Target: maybe(ws.ID), Status: "ok",
			Summary: cut(notice.Message, 256), RequestBody: json.RawMessage("null"), ResponseBody: body,
		})
	})
	answer(w, http.StatusOK, object{"status": "sent"})
}
