package bridge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// TestRedirectsAreNotFollowed keeps the token from whoever else listens on the host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		sends := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		c := bridge.New(bridge.Config{URL: sends.URL, Token: "token"})
		if _, err := c.Do(t.Context(), bridge.Args{Action: "list"}); err == nil || !strings.Contains(err.Error(), "is no runtime") {
			t.Errorf("%d: %v", code, err)
		}
		sends.Close()
	}
}

// TestAnswersOfNoRuntime are errors.
func TestAnswersOfNoRuntime(t *testing.T) {
	for _, answer := range []string{`{"result":null}`, `{"result":{"tasks":[null]}}`, `{}`, `[]`, ``} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
		if got, err := bridge.New(bridge.Config{URL: server.URL}).Do(t.Context(), bridge.Args{Action: "list"}); err == nil {
			t.Errorf("%s is taken for %+v", answer, got)
		}
		server.Close()
	}
}

// TestNullsInAnswers are errors, and no crash.
func TestNullsInAnswers(t *testing.T) {
	const task, working = `"id":"t","contextId":"codex-0123456789ab"`, `"status":{"state":"TASK_STATE_WORKING"}`
	const mine = `"history":[{"messageId":"codex-0123456789ab","role":"ROLE_USER","parts":[{"text":"x"}]}]`
	whole := `{` + task + `,` + working + `,` + mine + `}`
	for name, c := range map[string]struct{ listed, event string }{
		"task":            {listed: `null`},
		"history":         {listed: `{` + task + `,` + working + `,"history":[null]}`},
		"artifacts":       {listed: `{` + task + `,` + working + `,` + mine + `,"artifacts":[null]}`},
		"parts":           {listed: `{` + task + `,` + mine + `,"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[null]}}}`},
		"event":           {whole, `{"statusUpdate":null}`},
		"artifact":        {whole, `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":null}}`},
		"no artifact":     {whole, `{"artifactUpdate":{"taskId":"t","contextId":"c"}}`},
		"artifact's part": {whole, `{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[null]}}}`},
		"task's artifact": {whole, `{"task":{` + task + `,` + working + `,"artifacts":[null]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(string(body), `"SubscribeToTask"`) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","result":`+c.event+"}\n\n")
					return
				}
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","result":{"tasks":[`+c.listed+`]}}`)
			}))
			defer server.Close()
			client := bridge.New(bridge.Config{URL: server.URL})
			if c.event == "" {
				for _, args := range []bridge.Args{{Action: "status", TaskID: "codex-0123456789ab"}, {Action: "list"}} {
					if got, err := client.Do(t.Context(), args); err == nil {
						t.Errorf("%s: %+v", args.Action, got)
					}
				}
				return
			}
			p := &bridge.Printer{Out: io.Discard}
			if _, err := client.Watch(t.Context(), "codex-0123456789ab", bridge.Sight{Event: p.Event}); err == nil {
				t.Error("no error of what is watched")
			}
		})
	}
}

// TestTerminalIsNotSteered shows what the model says, and does not do it.
func TestTerminalIsNotSteered(t *testing.T) {
	const evil = "rm -rf ~ \x1b[2K\r echo harmless"
	var out strings.Builder
	p := &bridge.Printer{Out: &out, ID: "x", Color: true}
	p.Event(&a2a.TaskStatusUpdateEvent{Status: a2a.TaskStatus{
		State: a2a.TaskStateInputRequired, Message: a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(evil)),
	}})
	p.Event(&a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart(evil)}}})
	if err := bridge.WriteHuman(&out, bridge.ListAnswer{Tasks: []*bridge.Task{{Prompt: evil}}}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "\r") || strings.Contains(got, "\x1b[2K") || strings.Count(got, `\x1b[2K\r`) < 2 {
		t.Errorf("%q", got)
	}
}
