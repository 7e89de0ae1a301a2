package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

func taskReply(task *a2a.Task) *a2a.Message { return reply.Of(task) }

// TestReplyBytes is what the platform and its agents read, byte for byte.
func TestReplyBytes(t *testing.T) {
	h := &fakeHandler{send: func(_ context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
		task := echoTask(req)
		file := a2a.NewFileURLPart("workspace:/workspace/.molecule/chat-uploads/0-report.pdf", "application/pdf")
		file.Filename = "report.pdf"
		task.Artifacts = append(task.Artifacts, &a2a.Artifact{ID: "f", Parts: a2a.ContentParts{file}})
		task.Metadata = map[string]any{
			keys.Reply: "A1", keys.Usage: map[string]any{"inputTokens": 12.0, "outputTokens": 3.0},
			keys.Tools: []any{map[string]any{"tool": "command_execution", "input": "ls x", "output_preview": "a"}},
		}
		return task, nil
	}}
	x := newTenant(t, func(c *Config) { c.Handler = h })
	a := do(t, "POST", x.url+"/", `{"id":"custom-id-123","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"m","parts":[{"text":"hi","type":"text"}],"role":"user"}}}`)
	want := `{"jsonrpc":"2.0","id":"custom-id-123","result":{"contextId":"C1","kind":"message","messageId":"T1-reply",` +
		`"metadata":{"tool_trace":[{"input":"ls x","output_preview":"a","tool":"command_execution"}],"usage":{"inputTokens":12,"outputTokens":3}},` +
		`"parts":[{"kind":"text","text":"echo: hi"},{"kind":"file","file":{"mimeType":"application/pdf","name":"report.pdf","uri":"workspace:/workspace/.molecule/chat-uploads/0-report.pdf"}}],` +
		`"role":"agent","taskId":"T1","usage":{"input_tokens":12,"output_tokens":3}}}` + "\n"
	if a.status != 200 || a.body != want {
		t.Errorf("%d\n%s\nwant\n%s", a.status, a.body, want)
	}
}

// TestFaultsAreReplies has errors of ours come as messages, and those of callers as errors.
func TestFaultsAreReplies(t *testing.T) {
	for text, err := range map[string]error{
		`"text":"[codex error] the queue is full"`:        a2a.NewError(a2a.ErrServerError, "the queue is full"),
		`"text":"[codex error] internal error`:            errors.New("Exception: 401 agent error"),
		`"text":"[codex error] a fault, and unauthorized`: a2a.NewError(a2a.ErrServerError, "a Exception, and 401"),
		`"code":-32602`: a2a.NewError(a2a.ErrInvalidParams, "no"),
		`"code":-32001`: a2a.NewError(a2a.ErrTaskNotFound, "no"),
	} {
		x := newTenant(t, func(c *Config) {
			c.Handler = &fakeHandler{send: func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) { return nil, err }}
		})
		a := do(t, "POST", x.url, v0Send1(`{"messageId":"m","contextId":"c","parts":[{"text":"hi"}]}`))
		if a.status != 200 || !strings.Contains(a.body, text) {
			t.Errorf("%v: %d %s, want %s", err, a.status, a.body, text)
		}
	}
}

// TestPanicIsAnswered: a handler that panics is no reason for a 5xx, or for silence.
func TestPanicIsAnswered(t *testing.T) {
	x := newTenant(t, func(c *Config) {
		c.Handler = &fakeHandler{send: func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) { panic("boom") }}
	})
	a := do(t, "POST", x.url, v0Send1(`{"messageId":"m","parts":[{"text":"hi"}]}`))
	if a.status != 200 || !strings.Contains(a.body, "[codex error] internal error") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestIdsOfAnyType(t *testing.T) {
	x := newTenant(t)
	for _, id := range []string{`"a\u00e9"`, `1.50`, `-7`, `null`, `true`, `{"a":[1]}`, `[1,2]`, `12345678901234567890123`} {
		a := do(t, "POST", x.url, `{"jsonrpc":"2.0","id":`+id+`,"method":"no/such"}`)
		if !strings.HasPrefix(a.body, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601,`) || a.status != 200 {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
}
