package fakeplatform

import (
	"encoding/json"
	"fmt"
	"net/http"
)

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
		p.log(ws, row{
			Type: "a2a_receive", Method: "notify", Target: maybe(ws.ID), Status: "ok",
			Summary: cut(notice.Message, 256), RequestBody: json.RawMessage("null"), ResponseBody: body,
		})
	})
	answer(w, http.StatusOK, object{"status": "sent"})
}
