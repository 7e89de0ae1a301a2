package fakeplatform

import (
	"net/http"
	"slices"
	"strings"
)

// A ChatLine is something that was said in a chat.
type ChatLine struct{ Service, Chat, Text string }

// A chat is a service of chats, as the oldest platform's source has it: what is said goes to all of its
// chats, and its secrets are shown in part.
type chat struct {
	id, service string
	chats       []string
}

// AddChat connects the workspace to chats of a service.
func (h *Handle) AddChat(service string, chats ...string) (id string) {
	id = newID()
	h.p.locked(func() { h.ws.chats = append(h.ws.chats, chat{id, service, chats}) })
	return id
}

// ChatLines are what was said in chats.
func (h *Handle) ChatLines() []ChatLine {
	return look(h, func(w *workspace) []ChatLine { return slices.Clone(w.lines) })
}

func (p *Platform) chats(w http.ResponseWriter, _ *http.Request, ws *workspace) {
	p.mu.Lock()
	list := []object{}
	for _, c := range ws.chats {
		list = append(list, object{"id": c.id, "workspace_id": ws.ID, "channel_type": c.service, "enabled": true, "message_count": 0,
			"config": object{"chat_id": strings.Join(c.chats, ","), "bot_token": "1234...5678"}})
	}
	p.mu.Unlock()
	answer(w, http.StatusOK, list)
}

func (p *Platform) sayInChat(w http.ResponseWriter, r *http.Request, ws *workspace) {
	var body struct {
		Text string `json:"text"`
	}
	if !read(w, r, &body) {
		return
	}
	if body.Text == "" {
		refuse(w, http.StatusBadRequest, "text is required")
		return
	}
	found := false
	p.locked(func() {
		for _, c := range ws.chats {
			if c.id != r.PathValue("chat") {
				continue
			}
			found = true
			for _, id := range c.chats {
				ws.lines = append(ws.lines, ChatLine{c.service, id, body.Text})
			}
		}
		p.tell()
	})
	if !found {
		refuse(w, http.StatusInternalServerError, "send failed")
		return
	}
	answer(w, http.StatusOK, object{"status": "sent"})
}
