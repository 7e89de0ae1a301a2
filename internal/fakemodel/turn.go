package fakemodel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// A Script answers one request of codex. When it returns, the response is
// completed; an empty one is legal. It should return soon after
// [Turn.Context] has ended.
type Script func(*Turn)

// A Turn is one request to the model and the answer to it. It is made by the
// server, and only good inside the script. One turn of codex is one Turn per
// model call: another follows each tool call.
type Turn struct {
	Request
	// Seq counts the requests to this server from 1.
	Seq int

	ctx    context.Context
	sink   sink
	items  int // finished output items
	open   *message
	usage  usage
	broken Outcome // set when the script ended the answer itself
}

// A message is the agent message that deltas go to.
type message struct {
	id, phase string
	text      []byte
	frame     []byte // the delta event up to its text
}

type usage struct{ in, out int }

// Context ends when codex drops the connection or interrupts the response, or the server closes.
func (t *Turn) Context() context.Context { return t.ctx }

// Usage sets the tokens that the response reports at its end; 10 and 5 otherwise.
func (t *Turn) Usage(in, out int) { t.usage = usage{in, out} }

// OpenMessage begins an agent message whose phase is known from the start
// (final_answer, commentary or ""), as OpenAI's models send it. [Turn.Delta]
// begins one without a phase where none is open.
func (t *Turn) OpenMessage(phase string) {
	t.EndMessage("")
	t.begin()
	id := t.id("msg")
	t.open = &message{id: id, phase: phase}
	t.open.frame = fmt.Appendf(nil,
		`{"type":"response.output_text.delta","item_id":%q,"output_index":%d,"content_index":0,"delta":`, id, t.items)
	t.event("response.output_item.added", map[string]any{
		"output_index": t.items, "item": t.open.item([]any{}),
	})
}

func (m *message) item(content []any) map[string]any {
	item := map[string]any{"type": "message", "role": "assistant", "id": m.id, "content": content}
	if m.phase != "" {
		item["phase"] = m.phase
	}
	return item
}

// Delta streams a piece of the open agent message, and opens one if need be.
func (t *Turn) Delta(text string) {
	if t.open == nil {
		t.OpenMessage("")
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("fakemodel: " + err.Error()) // a string always marshals
	}
	t.open.text = append(t.open.text, text...)
	size := len(t.open.frame)
	t.open.frame = append(append(t.open.frame, quoted...), '}')
	t.sink.send("response.output_text.delta", t.open.frame)
	t.open.frame = t.open.frame[:size]
}

// EndMessage finishes the open agent message, if there is one. A phase that is
// not empty replaces the one it was opened with.
func (t *Turn) EndMessage(phase string) {
	if t.open == nil {
		return
	}
	m := t.open
	t.open = nil
	if phase != "" {
		m.phase = phase
	}
	t.done(m.item([]any{map[string]any{"type": "output_text", "text": string(m.text), "annotations": []any{}}}))
}

// Say sends one whole agent message, in one piece, as the final answer.
func (t *Turn) Say(text string) {
	t.OpenMessage("final_answer")
	t.Delta(text)
	t.EndMessage("")
}

// Reason sends a reasoning item with the given summary, streamed in one piece.
func (t *Turn) Reason(summary string) {
	t.EndMessage("")
	t.begin()
	id := t.id("rs")
	at := func(m map[string]any) map[string]any {
		m["item_id"], m["output_index"], m["summary_index"] = id, t.items, 0
		return m
	}
	t.event("response.output_item.added", map[string]any{
		"output_index": t.items, "item": map[string]any{"type": "reasoning", "id": id, "summary": []any{}},
	})
	t.event("response.reasoning_summary_part.added", at(map[string]any{
		"part": map[string]any{"type": "summary_text", "text": ""},
	}))
	t.event("response.reasoning_summary_text.delta", at(map[string]any{"delta": summary}))
	t.event("response.reasoning_summary_text.done", at(map[string]any{"text": summary}))
	t.done(map[string]any{
		"type": "reasoning", "id": id, "encrypted_content": nil,
		"summary": []any{map[string]any{"type": "summary_text", "text": summary}},
	})
}

// Fail answers with an HTTP error and its body, which codex retries or not as
// it sees fit. It must come before anything was sent; otherwise it cuts the
// connection. The rest of the script is ignored.
func (t *Turn) Fail(status int, body string) { t.FailWith(status, nil, body) }

// FailWith is [Turn.Fail] with headers, such as Retry-After.
func (t *Turn) FailWith(status int, header http.Header, body string) {
	if t.broken != "" {
		return
	}
	if !t.sink.fail(status, []byte(body), header) {
		t.Drop()
		return
	}
	t.broken = Failed
}

// FailStream ends the response with the event response.failed, as the API
// reports errors that come up after the answer began.
func (t *Turn) FailStream(code, text string) {
	if t.broken != "" {
		return
	}
	t.begin()
	t.event("response.failed", map[string]any{"response": map[string]any{
		"id": t.response(), "status": "failed", "error": map[string]any{"code": code, "message": text},
	}})
	t.sink.end()
	t.broken = Failed
}

// Drop cuts the connection in the middle of the answer, after sending what
// there is so far. The rest of the script is ignored.
func (t *Turn) Drop() {
	if t.broken != "" {
		return
	}
	t.begin()
	t.sink.end()
	t.broken = Cut
}

// Hang waits, silently, until codex drops the connection or interrupts the response.
func (t *Turn) Hang() {
	t.begin()
	t.sink.flush()
	<-t.ctx.Done()
}

// begin sends response.created in front of the first event.
func (t *Turn) begin() {
	if t.sink.isOpen() {
		return
	}
	t.event("response.created", map[string]any{"response": map[string]any{"id": t.response(), "status": "in_progress"}})
}

func (t *Turn) done(item map[string]any) {
	t.event("response.output_item.done", map[string]any{"output_index": t.items, "item": item})
	t.items++
}

func (t *Turn) complete() {
	t.EndMessage("")
	t.begin()
	t.event("response.completed", map[string]any{"response": t.ended("completed")})
	t.sink.end()
}

// interrupted ends the answer without what of it is not complete.
func (t *Turn) interrupted() {
	t.begin()
	t.event("response.interrupt.accepted", map[string]any{"response_id": t.response()})
	if t.open != nil {
		t.event("response.output_item.interrupted", map[string]any{
			"response_id": t.response(), "item_id": t.open.id, "output_index": t.items,
		})
		t.open = nil
	}
	response := t.ended("incomplete")
	response["incomplete_details"] = map[string]any{"reason": "interrupted"}
	t.event("response.incomplete", map[string]any{"response": response})
	t.sink.end()
}

// ended is what the last event says of the response.
func (t *Turn) ended(status string) map[string]any {
	return map[string]any{
		"id": t.response(), "status": status,
		"usage": map[string]any{
			"input_tokens": t.usage.in, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": t.usage.out, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": t.usage.in + t.usage.out,
		},
	}
}

// response is the id of the response, from its first event to its last.
func (t *Turn) response() string { return "resp_" + strconv.Itoa(t.Seq) }

// id makes an id that is unique among those of this server.
func (t *Turn) id(kind string) string {
	return kind + "_" + strconv.Itoa(t.Seq) + "_" + strconv.Itoa(t.items)
}
