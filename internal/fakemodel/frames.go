package fakemodel

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// frames is an answer by a WebSocket: a message for each event.
type frames struct {
	ctx  context.Context
	conn *websocket.Conn

	mu            sync.Mutex // guards the fields below
	opened, ended bool
	items         []json.RawMessage // that were finished
}

func (f *frames) send(kind string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	f.opened = true
	if kind == "response.output_item.done" {
		var done struct {
			Item json.RawMessage `json:"item"`
		}
		if json.Unmarshal(data, &done) == nil {
			f.items = append(f.items, done.Item)
		}
	}
	_ = f.conn.Write(f.ctx, websocket.MessageText, data) // an error shows in the context
}

func (f *frames) flush() {}

func (f *frames) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
}

func (f *frames) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

// fail says by an event what an HTTP error would have said.
func (f *frames) fail(status int, body []byte, header http.Header) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened || f.ended {
		return false
	}
	f.opened, f.ended = true, true
	event := map[string]any{}
	if json.Unmarshal(body, &event) != nil {
		event["error"] = map[string]any{"message": string(body)}
	}
	headers := map[string]any{}
	for name := range header {
		headers[name] = header.Get(name)
	}
	event["type"], event["status"], event["headers"] = "error", status, headers
	_ = f.conn.Write(f.ctx, websocket.MessageText, []byte(marshal(event)))
	return true
}
