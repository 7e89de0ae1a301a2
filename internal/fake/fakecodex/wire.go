package fakecodex

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"
)

// object is a JSON object in the making.
type object = map[string]any

// A wire writes messages as codex does: no "jsonrpc", a refusal's id last.
type wire struct {
	noise         bool
	stringAnswers bool

	mu sync.Mutex // guards stdout, so that lines stay whole
}

// message is whatever comes in.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

type notification struct {
	Method    string `json:"method"`
	Params    any    `json:"params"`
	EmittedAt int64  `json:"emittedAtMs"`
}

type request struct {
	Method string          `json:"method"`
	ID     json.RawMessage `json:"id"`
	Params any             `json:"params"`
}

type answer struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result"`
}

type refusal struct {
	Error object          `json:"error"`
	ID    json.RawMessage `json:"id"`
}

func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	return append(line, '\n')
}

// write ends the process when nobody reads any more.
func (w *wire) write(lines []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noise {
		lines = append([]byte("\x1b[?2004h$ npm notice\n{\"half\":\n{\"foo\":1}\n\n"), lines...)
	}
	if _, err := os.Stdout.Write(lines); err != nil && !strings.Contains(err.Error(), "closed") {
		os.Exit(0)
	}
}

func (w *wire) notify(method string, params any) { w.write(note(method, params)) }

func note(method string, params any) []byte {
	return encode(notification{method, params, time.Now().UnixMilli()})
}

func (w *wire) answer(id json.RawMessage, result any) {
	if w.stringAnswers {
		id = json.RawMessage(`"` + string(id) + `"`)
	}
	w.write(encode(answer{id, result}))
}

func (w *wire) refuse(id json.RawMessage, text string) {
	code := -32600
	if strings.HasPrefix(text, "Server overloaded") { // the one refusal that codex gives a code of its own
		code = -32001
	}
	w.write(encode(refusal{object{"code": code, "message": text}, id}))
}

// params is every field that a method of ours reads.
type params struct {
	ThreadID       string `json:"threadId"`
	TurnID         string `json:"turnId"`
	ExpectedTurnID string `json:"expectedTurnId"`
	ProcessID      string `json:"processId"`
	ClientID       string `json:"clientUserMessageId"`
	Limit          int    `json:"limit"`
	ItemsView      string `json:"itemsView"`
	Input          []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"input"`
}

func (p params) text() string {
	var texts []string
	for _, input := range p.Input {
		if input.Type == "text" {
			texts = append(texts, input.Text)
		}
	}
	return strings.Join(texts, "\n")
}
