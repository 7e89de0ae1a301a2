package fakeplatform

import "net/http"

// An Ask is a request to the user. Of the oldest platform it is an approval always, whose
// title is the action, and whose detail the reason.
type Ask struct {
	ID       string `json:"-"`
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	Detail   string `json:"detail"`
	Priority string `json:"priority"`
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
	p.asked(w, ws, "approval_id", Ask{Kind: "approval", Title: body.Action, Detail: body.Reason})
}

// asked has the user see the request.
func (p *Platform) asked(w http.ResponseWriter, ws *workspace, key string, ask Ask) {
	if p.muted(w, ws) {
		return
	}
	ask.ID = newID()
	p.locked(func() {
		ws.asks = append(ws.asks, ask)
		p.tell()
	})
	answer(w, http.StatusCreated, object{key: ask.ID, "status": "pending"})
}
