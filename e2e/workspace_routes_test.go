package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// call makes a request of the platform's, with a bearer token if that is not empty.
func (w *workspace) route(method, path, bearer, media string, body io.Reader) (int, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.URL+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	req.Host = "ws-ws-1:8000"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// TestPlatformRoutes uploads a file as the platform does, has the user's message name
// it, and reads it again; the secret is replaced meanwhile.
func TestPlatformRoutes(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("files", "plan.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte("the plan"))
	_ = parts.Close()
	media := parts.FormDataContentType()
	if status, said := w.route("POST", "/internal/chat/uploads/ingest", "wrong", media, strings.NewReader(form.String())); status != 401 {
		t.Errorf("with a wrong secret: %d %s", status, said)
	}
	status, said := w.route("POST", "/internal/chat/uploads/ingest", inboundSecret, media, strings.NewReader(form.String()))
	var uploaded object
	if err := json.Unmarshal([]byte(said), &uploaded); err != nil || status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	uri, _ := at(uploaded, "files", 0, "uri").(string)
	w.ask(userMessage("r1", textPart("say thanks"), object{"kind": "file", "file": object{"uri": uri, "name": "plan.txt", "mimeType": "text/plain"}}), nil)
	requests := w.Model.Requests()
	path := strings.TrimPrefix(uri, "workspace:")
	if got := requests[len(requests)-1].LastUserText(); got != "say thanks\n\nAttached files:\n- plan.txt (text/plain) at "+path {
		t.Errorf("codex got %q", got)
	}
	w.put(t, ".platform_inbound_secret", "the-next-secret")
	if status, said := w.route("GET", "/internal/file/read?path="+url.QueryEscape(path), "the-next-secret", "", nil); status != 200 || said != "the plan" {
		t.Errorf("read: %d %s", status, said)
	}
	for name, secret := range map[string]string{"token.txt": w.configs + "/.auth_token", "state.txt": w.State + "/state.db"} {
		if err := os.Link(secret, filepath.Join(w.Work, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, hidden := range []string{
		w.configs + "/.auth_token", w.configs + "/.platform_inbound_secret", w.State + "/state.db", w.Home + "/auth.json", w.Work + "/token.txt", w.Work + "/state.txt",
	} {
		if status, said := w.route("GET", "/internal/file/read?path="+url.QueryEscape(hidden), "the-next-secret", "", nil); status != 403 {
			t.Errorf("%s: %d %s", hidden, status, said)
		}
	}
	if status, _ := w.route("GET", "/internal/a2a-auth-status", inboundSecret, "", nil); status != 401 {
		t.Errorf("with the old secret: %d", status)
	}
	if status, said := w.route("GET", "/transcript?since=3", "token-of-the-workspace", "", nil); status != 200 || !strings.Contains(said, `"cursor":3`) {
		t.Errorf("transcript: %d %s", status, said)
	}
	if status, _ := w.route("GET", "/transcript", "the-next-secret", "", nil); status != 401 {
		t.Errorf("transcript with another secret: %d", status)
	}
	for _, secret := range []string{inboundSecret, "the-next-secret", "token-of-the-workspace"} {
		if strings.Contains(w.Log(), secret) {
			t.Errorf("%s stands in the log", secret)
		}
	}
}

func TestRequiredAuth(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t, "MOLECULE_A2A_REQUIRE_AUTH=yes")
	body := `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"q1","parts":[{"kind":"text","text":"say in"}],"role":"user"}}}`
	for _, path := range []string{"/", "/a2a", "/message:send", "/v1/message:send", "/tasks/x"} {
		method := "POST"
		if path == "/tasks/x" {
			method = "GET"
		}
		if status, said := w.route(method, path, "", "application/json", strings.NewReader(body)); status != 401 {
			t.Errorf("%s: %d %s", path, status, said)
		}
	}
	if status, said := w.route("POST", "/", inboundSecret, "application/json", strings.NewReader(body)); status != 200 || !strings.Contains(said, `"text":"in"`) {
		t.Errorf("with the secret: %d %s", status, said)
	}
	if status, _ := w.route("GET", "/.well-known/agent.json", "", "", nil); status != 200 {
		t.Errorf("the card: %d", status)
	}
	if _, said := w.route("GET", "/internal/a2a-auth-status", inboundSecret, "", nil); !strings.Contains(said, `"require_auth":true`) {
		t.Errorf("status: %s", said)
	}
}

// TestUserSteersOnTheCanvas has a second message of the user's go into the turn that runs.
func TestUserSteersOnTheCanvas(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	blocks := w.blocker()
	first := make(chan string, 1)
	go func() {
		_, said, _ := w.raw(t.Context(), `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"c1","contextId":"canvas-ws-1","parts":[{"kind":"text","text":"run `+blocks.command+`"}],"role":"user"},"metadata":{"source":"canvas_user"}}}`)
		first <- said
	}()
	w.modelAsked(1)
	second := userMessage("c2", textPart("say both"))
	second["contextId"] = "canvas-ws-1"
	if text, _ := w.ask(second, object{"source": "canvas_user"}); !strings.HasPrefix(text, "Got your message") {
		t.Errorf("the second is answered %q", text)
	}
	blocks.letGo()
	text, _ := w.reply(<-first)
	if !strings.Contains(text, "both") {
		t.Errorf("the first is answered %q", text)
	}
	if told := w.told(); len(told) != 0 {
		t.Errorf("the user was told %v", told)
	}
}

func TestRestartContextIsNoTurn(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	text, _ := w.ask(userMessage("x1", textPart("=== WORKSPACE RESTART CONTEXT ===\nrestarted")),
		object{"source": "platform", "kind": "restart_context", "layer": 1, "restart_context": true})
	if !strings.Contains(text, "back after its restart") || len(w.Model.Requests()) != 0 {
		t.Errorf("%q, and the model was asked %d times", text, len(w.Model.Requests()))
	}
}

// TestFailuresAreMessages has the model refuse, and break off.
func TestFailuresAreMessages(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	w := startWorkspace(t)
	for _, what := range []string{"fail 400", "fail 500"} {
		text, result := w.ask(userMessage(what, textPart(what)), nil)
		if !strings.HasPrefix(text, "[codex error] ") || at(result, "metadata", "failure", "kind") == nil {
			t.Errorf("%s: %q, %v", what, text, result)
		}
	}
	trace, result := w.ask(userMessage("t1", textPart("run echo traced")), nil)
	if at(result, "metadata", "tool_trace", 0, "tool") != "command_execution" || !strings.Contains(trace, "traced") {
		t.Errorf("%q: %v", trace, result["metadata"])
	}
}

// TestDuplicateDispatch sends a message again while its first turn runs.
func TestDuplicateDispatch(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	body := `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"d1","parts":[{"text":"wait 1s\nsay once","type":"text"}],"role":"user"}}}`
	answers := make(chan string, 2)
	send := func() {
		_, said, _ := w.raw(t.Context(), body)
		answers <- said
	}
	go send()
	w.modelAsked(1)
	go send()
	first, second := <-answers, <-answers
	if text, _ := w.reply(first); text != "once" || first != second {
		t.Errorf("answered\n%s\n%s", first, second)
	}
	if n, told := len(w.Model.Requests()), w.told(); n != 1 || len(told) != 0 {
		t.Errorf("the model was asked %d times, and the user told %v", n, told)
	}
}
