package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// A socket is a WebSocket by which codex asks the model: a message is a request that says
// only what is new since a response before it, and is answered by events, each in a message.
type socket struct {
	server *Server
	conn   *websocket.Conn
	header http.Header // of the upgrade

	// known is the conversation as of each response on this socket.
	known  map[string][]json.RawMessage
	warmed int // requests that were to generate nothing

	mu        sync.Mutex              // guards the fields below
	response  string                  // that is under way; empty between two
	interrupt context.CancelCauseFunc // ends it
}

var errInterrupted = errors.New("codex interrupts the response")

// speak takes codex's upgrade, and answers until codex closes the socket or the server ends.
func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	if !s.takesSockets() {
		w.WriteHeader(http.StatusUpgradeRequired)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	conn.SetReadLimit(maxBody)
	k := &socket{server: s, conn: conn, header: r.Header, known: map[string][]json.RawMessage{}}
	ctx, cancel := context.WithCancel(r.Context())
	said := make(chan []byte)
	go func() {
		defer close(said)
		defer cancel() // what is being answered is dropped
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if k.interrupts(text) {
				continue
			}
			select {
			case said <- text:
			case <-ctx.Done():
				return
			}
		}
	}()
	for text := range said {
		if !k.take(ctx, text) {
			break
		}
	}
	_ = conn.CloseNow()
	for range said { // until the reader has ended
	}
	cancel()
}

// A create is what codex says by a socket.
type create struct {
	Type     string            `json:"type"`
	Generate *bool             `json:"generate"`
	Previous string            `json:"previous_response_id"`
	Input    []json.RawMessage `json:"input"`
}

// take answers one message, and reports whether another may come.
func (k *socket) take(ctx context.Context, text []byte) bool {
	var said create
	if err := json.Unmarshal(text, &said); err != nil || said.Type != "response.create" {
		_ = k.conn.Close(websocket.StatusUnsupportedData, "only response.create is understood")
		return false
	}
	answer := &frames{conn: k.conn, ctx: ctx}
	before, ok := k.known[said.Previous]
	if said.Previous != "" && !ok {
		return answer.fail(http.StatusBadRequest, []byte(
			`{"error":{"type":"invalid_request_error","code":"previous_response_not_found","message":"There is no previous response of that id."}}`), nil)
	}
	input := append(slices.Clip(before), said.Input...)
	request, err := k.whole(text, input)
	if err != nil {
		_ = k.conn.Close(websocket.StatusUnsupportedData, "the request cannot be read")
		return false
	}
	of, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	turn := &Turn{Request: request, ctx: of, sink: answer, usage: usage{10, 5}}
	if said.Generate != nil && !*said.Generate { // codex shows what the conversation begins with
		k.warmed++
		turn.Seq = -k.warmed // no script has a number of these
		turn.complete()
		k.known[turn.response()] = input
		return true
	}
	script, rec := k.server.accept(request)
	turn.Seq = rec.Seq
	k.under(turn.response(), interrupt)
	script(turn)
	k.under("", nil)
	how := turn.finish()
	k.server.settle(rec, how)
	k.known[turn.response()] = append(input, answer.items...)
	return how != Cut && how != Dropped
}

// under notes which response is under way, and what ends it.
func (k *socket) under(response string, interrupt context.CancelCauseFunc) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.response, k.interrupt = response, interrupt
}

// interrupts reports whether codex asks for the end of a response, which it does where a message is
// to be heeded at once, and ends it.
func (k *socket) interrupts(text []byte) bool {
	var said struct {
		Type     string `json:"type"`
		Response string `json:"response_id"`
	}
	const short = 1 << 10
	if len(text) > short || json.Unmarshal(text, &said) != nil || said.Type != "response.interrupt" {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if said.Response == k.response && k.interrupt != nil && k.server.heedsInterruptions() {
		k.interrupt(errInterrupted)
	}
	return true
}

// whole is a request with all that was said before it, as it would be over HTTP.
func (k *socket) whole(text []byte, input []json.RawMessage) (Request, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return Request{}, err
	}
	fields["input"] = json.RawMessage(marshal(input))
	r, err := parseRequest(k.headerOf(fields["client_metadata"]), []byte(marshal(fields)))
	r.Socket, r.Sent = true, len(text)
	return r, err
}

// headerOf is the upgrade's header, and what codex says beside a request that has no header of its own.
func (k *socket) headerOf(metadata json.RawMessage) http.Header {
	header := k.header.Clone()
	var said map[string]string
	if json.Unmarshal(metadata, &said) != nil {
		return header
	}
	for name, value := range said {
		if name, ok := strings.CutPrefix(name, "ws_request_header_"); ok {
			header.Set(name, value)
		}
	}
	return header
}
