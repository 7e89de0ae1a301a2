package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A workspace is the program as the workspace ws-1 of a platform that hears what its
// user is told, and knows nothing else.
type workspace struct {
	*program
	configs string

	mu      sync.Mutex
	notices []object // what the user was told outside of answers
	refuse  int      // status of the next notices; 0 takes them
}

const inboundSecret = "inbound-secret-of-the-platform"

func startWorkspace(t *testing.T, extra ...string) *workspace {
	t.Helper()
	w := &workspace{configs: codextest.Dir(t, "configs")}
	platform := httptest.NewServer(http.HandlerFunc(w.platform))
	t.Cleanup(platform.Close)
	w.put(t, ".auth_token", "token-of-the-workspace")
	w.put(t, ".platform_inbound_secret", inboundSecret)
	settings := append([]string{
		"WORKSPACE_ID=ws-1", "PLATFORM_URL=" + platform.URL, "CONFIGS_DIR=" + w.configs,
		"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never",
	}, extra...)
	w.program = start(t, settings...)
	return w
}

func (w *workspace) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.configs, name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *workspace) platform(rw http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/registry/") {
		_, _ = io.WriteString(rw, `{"status":"registered"}`)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/notify") {
		http.NotFound(rw, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var said object
	_ = json.Unmarshal(body, &said)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != 0 {
		rw.WriteHeader(w.refuse)
		return
	}
	w.notices = append(w.notices, said)
	_, _ = rw.Write([]byte(`{"status":"sent"}`))
}

func (w *workspace) told() []object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]object{}, w.notices...)
}

// toldOnce waits until the user has been told one thing, and sees that it stays one.
func (w *workspace) toldOnce(want string) object {
	w.t.Helper()
	progtest.WaitFor(w.t, "the user to be told", func() bool { return len(w.told()) > 0 })
	time.Sleep(300 * time.Millisecond) // a second one would come at once
	told := w.told()
	if text, _ := told[0]["message"].(string); len(told) != 1 || text != want {
		w.t.Errorf("the user was told %v, want %q once", told, want)
	}
	return told[0]
}

// raw posts a body as the platform does and returns what comes back, as it is.
func (w *workspace) raw(ctx context.Context, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Go-http-client/1.1")
	req.Host = "ws-0123456789ab:8000"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, string(answer), err
}

// ask posts a message and returns the parts of the answer, which has to be one that all
// readers understand.
func (w *workspace) ask(message object, meta object) (text string, answer object) {
	w.t.Helper()
	params := object{"message": message}
	if meta != nil {
		params["metadata"] = meta
	}
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": "id-1", "method": "message/send", "params": params})
	status, said, err := w.raw(w.t.Context(), string(body))
	if err != nil || status != 200 {
		w.t.Fatalf("%s: %d, %v", body, status, err)
	}
	return w.reply(said)
}

func (w *workspace) reply(said string) (text string, answer object) {
	w.t.Helper()
	return readReply(w.t, said)
}

// readReply reads an answer as the platform, its agents and its canvas do, and looks
// for the words that its checks take for a crash.
func readReply(t *testing.T, said string) (text string, answer object) {
	t.Helper()
	if err := json.Unmarshal([]byte(said), &answer); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, compact := range []string{`"role":"agent"`, `"kind":"text"`, `"kind":"message"`} {
		if !strings.Contains(said, compact) {
			t.Errorf("the answer has no %s: %s", compact, said)
		}
	}
	if at(answer, "result", "parts", 0, "kind") != "text" {
		t.Errorf("the first part is no text: %s", said)
	}
	text, _ = at(answer, "result", "parts", 0, "text").(string)
	if strings.TrimSpace(text) == "" {
		t.Errorf("the answer has no text: %s", said)
	}
	for _, alarm := range []string{"agent error", "exception", "error result", "a2a_error", "missing_byok_credential", "not logged in", "please run /login", "no provider api key", "model_not_found"} {
		if strings.Contains(strings.ToLower(text), alarm) {
			t.Errorf("the answer has the marker %q: %s", alarm, text)
		}
	}
	if unauthorized.MatchString(text) {
		t.Errorf("the answer has the marker 401: %s", text)
	}
	return text, answer["result"].(object)
}

// unauthorized is a 401 that is no part of an id.
var unauthorized = regexp.MustCompile(`\b401\b`)

func textPart(text string) object { return object{"kind": "text", "text": text} }

func userMessage(id string, parts ...object) object {
	return object{"role": "user", "messageId": id, "parts": parts}
}

// TestExactRequests posts what the platform was seen to send, in its oldest and newest age.
func TestExactRequests(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	for name, c := range map[string]struct{ body, id, text, context string }{
		"april": {`{"id":"6f1c0f6e-3a53-4c1c-8f2b-1a60f4c8a001","jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"a1","parts":[{"text":"say hi","type":"text"}],"role":"user"}}}`,
			`"6f1c0f6e-3a53-4c1c-8f2b-1a60f4c8a001"`, "hi", "canvas-ws-1"},
		"june": {`{"id":"custom-id-123","jsonrpc":"2.0","method":"message/send","params":{"message":{"kind":"message","messageId":"a2","parts":[{"kind":"text","text":"say hi"}],"role":"user"},"metadata":{"history":[{"role":"user","parts":[{"kind":"text","text":"before"}]}]}}}`,
			`"custom-id-123"`, "hi", "canvas-ws-1"},
		"august": {`{"id":12345678901234567890123,"jsonrpc":"2.0","method":"message/send","params":{"message":{"contextId":"canvas-ws-1","messageId":"a3","parts":[{"kind":"text","text":"say hi"}],"role":"user"},"metadata":{"source":"canvas_user","user_id":"u"}}}`,
			`12345678901234567890123`, "hi", "canvas-ws-1"},
		"session": {`{"id":null,"jsonrpc":"2.0","method":"message/send","params":{"message":{"contextId":"sess-9","messageId":"a4","parts":[{"kind":"text","text":"say hi"}],"role":"user","taskId":null},"configuration":{"acceptedOutputModes":["text"],"blocking":true}}}`,
			`null`, "hi", "sess-9"},
		"delegation": {`{"id":{"odd":[1]},"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"a5","metadata":{"delegation_id":"a5"},"parts":[{"text":"say done","type":"text"}],"role":"user"}}}`,
			`{"odd":[1]}`, "done", "peer:?/"},
	} {
		t.Run(name, func(t *testing.T) {
			status, said, err := w.raw(t.Context(), c.body)
			if err != nil || status != 200 {
				t.Fatalf("%d, %v", status, err)
			}
			text, result := w.reply(said)
			if !strings.HasPrefix(said, `{"jsonrpc":"2.0","id":`+c.id+`,"result":{`) {
				t.Errorf("the id is not %s: %s", c.id, said)
			}
			in, _ := result["contextId"].(string)
			if text != c.text || in != c.context && (c.context != "peer:?/" || !strings.HasPrefix(in, c.context)) {
				t.Errorf("%q in %v: %s", text, result["contextId"], said)
			}
			if in, ok := at(result, "usage", "input_tokens").(float64); !ok || in <= 0 || at(result, "usage", "output_tokens") == nil {
				t.Errorf("usage = %v", result["usage"])
			}
			_, again, err := w.raw(t.Context(), c.body)
			if err != nil || again != said {
				t.Errorf("the same message again: %v\n%s\n%s", err, said, again)
			}
		})
	}
	for body, want := range map[string]string{
		`{"id":1,"jsonrpc":"2.0","method":"no/such","params":{}}`: `-32601`,
		`{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"e1","parts":[{"kind":"text","text":" \n"}],"role":"user"}}}`: `"text":"Your message was empty. Please send text or a file with instructions."`,
	} {
		if status, said, err := w.raw(t.Context(), body); err != nil || status != 200 || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s %v", body, status, said, err)
		}
	}
	if told := w.told(); len(told) != 0 {
		t.Errorf("the user was told %v", told)
	}
}

// TestKnownAnswers are the checks that the platform makes of a runtime.
func TestKnownAnswers(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	w := startWorkspace(t)
	if text, _ := w.ask(userMessage("k0", textPart("Reply with exactly the word: PONG")), nil); !strings.Contains(text, "PONG") {
		t.Errorf("ping is answered %q", text)
	}
	w.ask(userMessage("k1", textPart("remember name-Ada-42")), nil)
	if text, _ := w.ask(userMessage("k2", textPart("recall")), nil); !strings.Contains(text, "name-Ada-42") {
		t.Errorf("in the second turn: %q", text)
	}
	canvas := userMessage("k3", textPart("recall"))
	canvas["contextId"] = "canvas-ws-1"
	if text, result := w.ask(canvas, object{"source": "canvas_user"}); !strings.Contains(text, "name-Ada-42") || result["contextId"] != "canvas-ws-1" {
		t.Errorf("on the canvas: %q, %v", text, result)
	}
	w.again()
	if text, _ := w.ask(userMessage("k4", textPart("recall")), nil); !strings.Contains(text, "name-Ada-42") {
		t.Errorf("in the next session: %q", text)
	}
	apart := userMessage("k5", textPart("recall"))
	apart["contextId"] = "sess-1"
	if text, result := w.ask(apart, nil); strings.Contains(text, "name-Ada-42") || result["contextId"] != "sess-1" {
		t.Errorf("in a session of its own: %q, %v", text, result)
	}
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestFilesComeIn sends files alone and with a caption, in every form.
func TestFilesComeIn(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	notes := filepath.Join(w.Work, "notes.txt")
	if err := os.WriteFile(notes, []byte("the code is 4711"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := func(members object) object { return object{"kind": "file", "file": members} }
	for i, c := range []struct {
		part object
		want string // of the manifest
	}{
		{file(object{"uri": "workspace:" + notes, "name": "notes.txt", "mimeType": "text/plain"}), "- notes.txt (text/plain) at " + notes},
		{file(object{"uri": "file://" + notes, "name": "n.txt"}), "- n.txt (unknown type) at " + notes},
		{file(object{"uri": notes}), "- notes.txt (unknown type) at " + notes},
		{file(object{"uri": "workspace:/workspace/notes.txt"}), "- notes.txt (unknown type) at " + notes},
		{file(object{"uri": "workspace:/etc/passwd", "name": "passwd"}), "- passwd (unknown type) is not available to you; it was sent as workspace:/etc/passwd"},
		{file(object{"bytes": "aGVsbG8=", "name": "in.bin", "mimeType": "application/octet-stream"}), "-in.bin"},
		{object{"raw": "aGVsbG8=", "filename": "in2.bin", "mediaType": "application/pdf"}, "- in2.bin (application/pdf) at "},
		{object{"url": "http://127.0.0.1:1/x.bin", "filename": "x.bin"}, "- x.bin (unknown type) is not available to you; it was sent as http://127.0.0.1:1/x.bin"},
	} {
		for _, caption := range []string{"", "what is in the file"} {
			parts := []object{c.part}
			if caption != "" {
				parts = append([]object{textPart(caption)}, parts...)
			}
			w.ask(userMessage(fmt.Sprintf("f%d%s", i, caption), parts...), nil)
			requests := w.Model.Requests()
			got := requests[len(requests)-1].LastUserText()
			head := "Attached files:\n- "
			if caption != "" {
				head = caption + "\n\n" + head
			}
			if !strings.HasPrefix(got, head) || !strings.Contains(got, c.want) {
				t.Errorf("%v: codex got %q", c.part, got)
			}
		}
	}
}

// TestPictures has the model see a picture, also after the process was killed before
// the turn.
func TestPictures(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	hangFirst(w.program)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": object{"message": userMessage("p1",
		object{"kind": "file", "file": object{"bytes": onePixel, "name": "dot.png", "mimeType": "image/png"}}, textPart("say seen"))}})
	go func() {
		defer close(gone)
		_, _, _ = w.raw(ctx, string(body))
	}()
	w.modelAsked(1)
	w.again()
	cancel()
	<-gone
	w.toldOnce("seen")
	requests := w.Model.Requests()
	last := requests[len(requests)-1].Body
	if !bytes.Contains(last, []byte(`"image_url":"data:image/png;base64,`)) || !bytes.Contains(last, []byte("- dot.png (image/png) at "+w.Work)) {
		t.Errorf("the model got %s", last)
	}
	staged, _ := filepath.Glob(filepath.Join(w.Work, ".molecule/chat-uploads/*-dot.png"))
	if len(staged) != 1 {
		t.Fatalf("staged: %v", staged)
	}
	if info, err := os.Stat(staged[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestFilesGoOut has a reply name a file of the workspace and several that are not to be had.
func TestFilesGoOut(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	for name, text := range map[string]string{"report.pdf": "pdf", "auth.json": "secret"} {
		if err := os.WriteFile(filepath.Join(w.Work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(w.configs, ".auth_token"), filepath.Join(w.Work, "link.txt")); err != nil {
		t.Fatal(err)
	}
	say := fmt.Sprintf("say see %s/report.pdf, %[1]s/report.pdf. %[1]s/auth.json %[1]s/link.txt %s/.auth_token /etc/passwd %[1]s/none.txt", w.Work, w.configs)
	text, result := w.ask(userMessage("o1", textPart(say)), nil)
	parts := result["parts"].([]any)
	if len(parts) != 2 || !strings.Contains(text, "report.pdf") {
		t.Fatalf("parts = %v", parts)
	}
	uri, _ := at(parts, 1, "file", "uri").(string)
	path, ok := strings.CutPrefix(uri, "workspace:")
	if copied, err := os.ReadFile(path); !ok || err != nil || string(copied) != "pdf" || !strings.HasPrefix(path, w.Work+"/.molecule/chat-uploads/") {
		t.Errorf("%s: %q, %v", uri, copied, err)
	}
	if at(parts, 1, "kind") != "file" || at(parts, 1, "file", "name") != "report.pdf" || at(parts, 1, "file", "mimeType") != "application/pdf" {
		t.Errorf("part = %v", parts[1])
	}
	task := w.send("o2", "apart", say) // by 1.0
	if at(task, "artifacts", 0, "parts", 1, "filename") != "report.pdf" || at(task, "artifacts", 0, "parts", 1, "raw") == nil {
		t.Errorf("artifacts = %v", task["artifacts"])
	}
}
