package fakecodex

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// ask sends a request to the client; the answer comes on the channel.
func (s *server) ask(method string, params object) <-chan message {
	s.mu.Lock()
	s.lastAsk++
	id := json.RawMessage(fmt.Sprint(s.lastAsk - 1)) // codex begins at 0
	if ids, ok := s.step("ids"); ok {
		switch ids.arg(0) {
		case "string":
			id = json.RawMessage(fmt.Sprintf(`"ask-%d"`, s.lastAsk))
		case "negative":
			id = json.RawMessage(fmt.Sprint(-s.lastAsk))
		}
	}
	waiting := make(chan message, 1) // answered does not wait
	s.asked[string(id)] = waiting
	s.mu.Unlock()
	s.write(encode(request{method, id, params}))
	return waiting
}

// answered hands an answer of the client to whoever asked.
func (s *server) answered(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.asked[string(m.ID)]; waiting != nil {
		delete(s.asked, string(m.ID))
		waiting <- m
		return
	}
	fmt.Fprintf(os.Stderr, "fakecodex: an answer to nothing: %s\n", m.ID)
}

// callTool is a call of the client's tool. The text becomes what that answers, or what the turn is steered by.
func (x *execution) callTool() {
	tool, arguments := x.do.arg(0), x.do.arg(1)
	id, before := x.newID("call"), x.words()
	if x.without("first") {
		message := object{"type": "agentMessage", "id": x.newID("message"), "text": "so far", "phase": "commentary"}
		x.tell("item/started", object{"item": message})
		x.complete(message)
	}
	item := object{"type": "dynamicToolCall", "id": id, "tool": tool, "arguments": json.RawMessage(arguments), "status": "inProgress"}
	if !x.without("items") && !x.without("start") {
		x.tell("item/started", object{"item": item})
	}
	params := object{"threadId": x.t.ID, "turnId": x.turn.ID, "callId": id, "tool": tool, "arguments": json.RawMessage(arguments)}
	var m message
	select {
	case m = <-x.s.ask("item/tool/call", params):
	case <-x.ctx.Done():
		return
	}
	if !x.without("items") {
		item["status"] = "completed"
		x.complete(item)
	}
	text := string(m.Result) + string(m.Error)
	if x.without("answer") {
		text = "something else"
	}
	if x.do.name == "call-hang" {
		text = strings.TrimPrefix(x.words(), before)
	}
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.text = text
}

// without reports whether something is left out of a turn with such a call.
func (x *execution) without(what string) bool {
	return (x.do.name == "call" || x.do.name == "call-hang") && x.do.arg(2) == what
}
