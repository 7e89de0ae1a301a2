package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

// A keep has the copies of files by their tokens.
type keep struct {
	dir string
	t   testing.TB
}

func (k *keep) put(token, name, content string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, strings.Repeat("0", 32)+"-"+name), []byte(content), 0o600); err != nil {
		k.t.Fatal(err)
	}
	if err := os.Symlink(strings.Repeat("0", 32)+"-"+name, filepath.Join(k.dir, token)); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keep) Open(_ context.Context, task, token string) (*os.File, fs.FileInfo, error) {
	name, err := os.Readlink(filepath.Join(k.dir, token))
	if err != nil || task != "T1" {
		return nil, nil, errors.Join(errors.New("not here"), err)
	}
	file, err := os.Open(filepath.Join(k.dir, name))
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	return file, info, err
}

func newKeep(t testing.TB) *keep { return &keep{t.TempDir(), t} }

// handed is the part of a file that a task hands out.
func handed(token, name, media string, size int) *a2a.Part {
	return &a2a.Part{Content: a2a.URL("workspace:/w/" + name), Filename: name, MediaType: media, Metadata: map[string]any{
		"kept": "T1/" + token + "/" + name, "size": float64(size), "expiresAt": "2030-01-01T00:00:00Z",
	}}
}

// handing answers with a task that hands out files.
func handing(parts ...*a2a.Part) *fakeHandler {
	task := func() *a2a.Task {
		return &a2a.Task{
			ID: "T1", ContextID: "C1", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted},
			Artifacts: []*a2a.Artifact{{ID: "A1", Parts: append(a2a.ContentParts{a2a.NewTextPart("see")}, parts...)}},
			History:   []*a2a.Message{a2a.NewMessage(a2a.MessageRoleUser, handed("forged", "x", "text/plain", 1))},
		}
	}
	h := &fakeHandler{}
	h.send = func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) { return task(), nil }
	h.get = func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { return task(), nil }
	h.stream = func(context.Context, *a2a.SendMessageRequest) unplaced {
		return events(&a2a.Task{ID: "T1", ContextID: "C1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}},
			&a2a.TaskArtifactUpdateEvent{TaskID: "T1", ContextID: "C1", Append: true, LastChunk: true, Artifact: &a2a.Artifact{ID: "A1", Parts: parts}})
	}
	h.subscribe = func(context.Context, *a2a.SubscribeToTaskRequest) unplaced { return events(task()) }
	return h
}

const (
	sendV1   = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}%s}}`
	sendV0   = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}`
	askTask  = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"id":"T1"}}`
	smallRaw = `"raw":"c21hbGw="`
	smallOld = `"bytes":"c21hbGw="`
)

// TestFilesOfAnswers: small ones come as bytes and large ones as a URL, in each version
// and by each method, and nowhere with what says where the copy is kept.
func TestFilesOfAnswers(t *testing.T) {
	k := newKeep(t)
	k.put("small-token", "a.txt", "small")
	k.put("large-token", "b.bin", strings.Repeat("x", guard.MostInline+1))
	ts := start(t, Config{Kept: k, Handler: handing(handed("small-token", "a.txt", "text/plain", 5), handed("large-token", "b.bin", "application/octet-stream", guard.MostInline+1))})
	url := `"` + ts.URL + `/files/T1/large-token/b.bin"`
	for name, c := range map[string]struct{ method, path, body, small, large string }{
		"send":            {"POST", "/", fmt.Sprintf(sendV1, "SendMessage", ""), smallRaw, `"url":` + url},
		"stream":          {"POST", "/", fmt.Sprintf(sendV1, "SendStreamingMessage", ""), smallRaw, `"url":` + url},
		"get":             {"POST", "/", fmt.Sprintf(askTask, "GetTask"), smallRaw, `"url":` + url},
		"subscribe":       {"POST", "/", fmt.Sprintf(askTask, "SubscribeToTask"), smallRaw, `"url":` + url},
		"rest":            {"GET", "/tasks/T1", "", smallRaw, `"url":` + url},
		"old-send":        {"POST", "/", fmt.Sprintf(sendV0, "message/send"), smallOld, `"uri":` + url},
		"old-stream":      {"POST", "/", fmt.Sprintf(sendV0, "message/stream"), smallOld, `"uri":` + url},
		"old-get":         {"POST", "/", fmt.Sprintf(askTask, "tasks/get"), smallOld, `"uri":` + url},
		"old-resubscribe": {"POST", "/", fmt.Sprintf(askTask, "tasks/resubscribe"), smallOld, `"uri":` + url},
	} {
		t.Run(name, func(t *testing.T) {
			got := do(t, c.method, ts.URL+c.path, c.body, "A2A-Version", "")
			for _, want := range []string{c.small, c.large, `"expiresAt":"2030-01-01T00:00:00Z"`, `"size":5`, "a.txt", "text/plain"} {
				if !strings.Contains(got.body, want) {
					t.Errorf("no %s in %s", want, got.body)
				}
			}
			if strings.Contains(got.body, `"kept":"T1/small`) || strings.Contains(got.body, `"workspace:/w/a.txt"`) {
				t.Errorf("it says where the copy is kept: %s", got.body)
			}
		})
	}
}

// TestFilesOfOldTasks, when none are kept any more: all but the platform get a URL that
// says so, and nothing of where the copy was.
func TestFilesOfOldTasks(t *testing.T) {
	ts := start(t, Config{Token: "of-callers", Handler: handing(handed("token", "a.txt", "text/plain", 5))})
	url := ts.URL + "/files/T1/token/a.txt"
	for body, member := range map[string]string{
		fmt.Sprintf(sendV1, "SendMessage", ""): `"url":"`, fmt.Sprintf(sendV1, "SendStreamingMessage", ""): `"url":"`,
		fmt.Sprintf(askTask, "GetTask"): `"url":"`, fmt.Sprintf(askTask, "tasks/get"): `"uri":"`,
	} {
		got := do(t, "POST", ts.URL, body, "Authorization", "Bearer of-callers")
		if !strings.Contains(got.body, member+url+`"`) || strings.Contains(got.body, `"kept":"T1/token`) || strings.Contains(got.body, `"workspace:/w/a.txt"`) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	if got := do(t, "GET", url, ""); got.status != http.StatusNotFound {
		t.Errorf("the URL answers %d: %s", got.status, got.body)
	}
}

// TestEmptyFiles are URLs, in each binding: one without content would be neither bytes nor
// a URL in some.
func TestEmptyFiles(t *testing.T) {
	k := newKeep(t)
	k.put("token", "empty.txt", "")
	ts := start(t, Config{Kept: k, Handler: handing(handed("token", "empty.txt", "text/plain", 0))})
	url := `"` + ts.URL + `/files/T1/token/empty.txt"`
	for name, c := range map[string]struct{ method, path, body, want string }{
		"rpc": {"POST", "/", fmt.Sprintf(askTask, "GetTask"), `"url":` + url}, "old-rpc": {"POST", "/", fmt.Sprintf(askTask, "tasks/get"), `"uri":` + url},
		"rest": {"GET", "/tasks/T1", "", `"url":` + url}, "old-rest": {"GET", "/v1/tasks/T1", "", url},
	} {
		if got := do(t, c.method, ts.URL+c.path, c.body); !strings.Contains(got.body, c.want) {
			t.Errorf("%s: no %s in %s", name, c.want, got.body)
		}
	}
	if got := do(t, "GET", ts.URL+"/files/T1/token/empty.txt", ""); got.status != http.StatusOK || got.body != "" {
		t.Errorf("the URL answers %d %q", got.status, got.body)
	}
}

// TestForgedFiles: what a caller has sent is shown as it was sent.
func TestForgedFiles(t *testing.T) {
	k := newKeep(t)
	k.put("forged", "x", "x")
	ts := start(t, Config{Kept: k, Handler: handing()})
	if got := do(t, "GET", ts.URL+"/tasks/T1", ""); !strings.Contains(got.body, `"workspace:/w/x"`) || strings.Contains(got.body, `"raw"`) {
		t.Errorf("%s", got.body)
	}
}

// TestBytesOfAnAnswerAreBounded all together, and in a list there are none.
func TestBytesOfAnAnswerAreBounded(t *testing.T) {
	longtest.Mark(t)
	k := newKeep(t)
	var parts []*a2a.Part
	for i := range 5 {
		token := fmt.Sprintf("token-%d", i)
		k.put(token, token, strings.Repeat("x", guard.MostInline))
		parts = append(parts, handed(token, token, "text/plain", guard.MostInline))
	}
	parts = append(parts, handed("lost", "lost", "text/plain", 1)) // its copy is gone
	h := handing(parts...)
	ts := start(t, Config{Kept: k, Handler: h})
	body := do(t, "GET", ts.URL+"/tasks/T1", "").body
	if raw, urls := strings.Count(body, `"raw":`), strings.Count(body, `"url":"`+ts.URL); raw != 4 || urls != 2 {
		t.Errorf("%d files as bytes and %d as URLs", raw, urls)
	}
	list := guard.ShowFiles(lists{h}, k, false)
	res, err := list.ListTasks(t.Context(), &a2a.ListTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Tasks[0].Artifacts[0].Parts[1:] {
		if p.URL() == "" {
			t.Error("bytes in a list")
		}
	}
}

// lists answers a list with the one task that there is.
type lists struct{ *fakeHandler }

func (l lists) ListTasks(ctx context.Context, _ *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	task, err := l.get(ctx, nil)
	return &a2a.ListTasksResponse{Tasks: []*a2a.Task{task}}, err
}

// TestAcceptedFiles: what a caller does not take it gets as a URL.
func TestAcceptedFiles(t *testing.T) {
	k := newKeep(t)
	k.put("token", "a.png", "small")
	ts := start(t, Config{Kept: k, Handler: handing(handed("token", "a.png", "image/png", 5))})
	for modes, bytes := range map[string]bool{
		``: true, `,"configuration":{"acceptedOutputModes":[]}`: true, `,"configuration":{"acceptedOutputModes":["text/plain"]}`: false,
		`,"configuration":{"acceptedOutputModes":["text/plain","image/png"]}`: true, `,"configuration":{"acceptedOutputModes":["image/*"]}`: true,
		`,"configuration":{"acceptedOutputModes":["*/*"]}`: true, `,"configuration":{"acceptedOutputModes":["text"]}`: false,
	} {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			if got := do(t, "POST", ts.URL, fmt.Sprintf(sendV1, method, modes)); strings.Contains(got.body, smallRaw) != bytes || strings.Contains(got.body, `"url":"`+ts.URL) == bytes {
				t.Errorf("%s%s: %s", method, modes, got.body)
			}
		}
	}
}

// TestFilesForThePlatform are named in the workspace, as they ever were, and all others
// get them as anywhere.
func TestFilesForThePlatform(t *testing.T) {
	k := newKeep(t)
	k.put("token", "a.txt", "small")
	ts := start(t, Config{
		Kept: k, Handler: handing(handed("token", "a.txt", "text/plain", 5)), Token: "", AnyHost: true,
		Platform: &Platform{Secret: func() string { return "" }, Token: func() string { return "" }},
	})
	got := do(t, "POST", ts.URL, fmt.Sprintf(sendV0, "message/send")).rpc(t)
	var task struct {
		Artifacts []struct{ Parts []json.RawMessage }
	}
	if err := json.Unmarshal(got.Result, &task); err != nil || len(task.Artifacts) != 1 {
		t.Fatalf("%s, %v", got.Result, err)
	}
	if part := string(task.Artifacts[0].Parts[1]); part != `{"kind":"file","file":{"mimeType":"text/plain","name":"a.txt","uri":"workspace:/w/a.txt"}}` {
		t.Errorf("the platform gets %s", part)
	}
	if got := do(t, "POST", ts.URL, fmt.Sprintf(sendV1, "SendMessage", "")); !strings.Contains(got.body, smallRaw) {
		t.Errorf("1.0 gets %s", got.body)
	}
	token := start(t, Config{
		Kept: k, Handler: handing(handed("token", "a.txt", "text/plain", 5)), Token: "tok", AnyHost: true,
		Platform: &Platform{Secret: func() string { return "" }, Token: func() string { return "" }},
	})
	if got := do(t, "POST", token.URL, fmt.Sprintf(sendV0, "message/send"), "Authorization", "Bearer tok"); !strings.Contains(got.body, smallOld) {
		t.Errorf("a caller with the token gets %s", got.body)
	}
}

// TestPublicURLOfFiles is that of the card, also for receivers of push notifications.
func TestPublicURLOfFiles(t *testing.T) {
	k := newKeep(t)
	part := handed("token", "a.txt", "text/plain", guard.MostInline+1)
	ts := start(t, Config{Kept: k, Handler: handing(part), PublicURL: "https://agent.example/base/"})
	const want = "https://agent.example/base/files/T1/token/a.txt"
	if got := do(t, "GET", ts.URL+"/tasks/T1", ""); !strings.Contains(got.body, `"`+want+`"`) {
		t.Errorf("%s", got.body)
	}
	update := &a2a.TaskArtifactUpdateEvent{Artifact: &a2a.Artifact{Parts: a2a.ContentParts{part}}}
	for public, want := range map[string]string{"https://agent.example/base": want, "": "/files/T1/token/a.txt"} {
		shown, _ := guard.ShowPushed(public)(update).(*a2a.TaskArtifactUpdateEvent)
		if p := shown.Artifact.Parts[0]; string(p.URL()) != want || p.Metadata["kept"] != nil || p.Metadata["size"] == nil {
			t.Errorf("%q: %s %v", public, p.URL(), p.Metadata)
		}
	}
}

// TestServedFile: whole and in ranges, to be saved and not to be run, without the token
// of callers, and under the names that the server answers to.
func TestServedFile(t *testing.T) {
	k := newKeep(t)
	page := "<script>alert(1)</script>"
	k.put("token", "a.html", page)
	var log bytes.Buffer
	ts := start(t, Config{Kept: k, Token: "of-callers", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	url := ts.URL + "/files/T1/token/a.html"
	got := do(t, "GET", url, "")
	if got.status != http.StatusOK || got.body != page {
		t.Fatalf("%d %q", got.status, got.body)
	}
	for header, want := range map[string]string{
		"Content-Type": "text/html", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
		"Content-Disposition": "attachment; filename=a.html", "Referrer-Policy": "no-referrer", "Accept-Ranges": "bytes",
	} {
		if got.header.Get(header) != want {
			t.Errorf("%s: %q, want %q", header, got.header.Get(header), want)
		}
	}
	part := do(t, "GET", url, "", "Range", "bytes=1-6")
	if part.status != http.StatusPartialContent || part.body != "script" || part.header.Get("Content-Range") != fmt.Sprintf("bytes 1-6/%d", len(page)) {
		t.Errorf("%d %q %s", part.status, part.body, part.header.Get("Content-Range"))
	}
	for _, c := range []struct {
		what   string
		got    answer
		status int
	}{
		{"head", do(t, "HEAD", url, ""), http.StatusOK},
		{"without-name", do(t, "GET", ts.URL+"/files/T1/token", ""), http.StatusOK},
		{"same-version", do(t, "GET", url, "", "If-None-Match", got.header.Get("ETag")), http.StatusNotModified},
		{"beyond", do(t, "GET", url, "", "Range", "bytes=1000-"), http.StatusRequestedRangeNotSatisfiable},
		{"wrong-token", do(t, "GET", ts.URL+"/files/T1/wrong-token/a.html", ""), http.StatusNotFound},
		{"other-task", do(t, "GET", ts.URL+"/files/T2/token/a.html", ""), http.StatusNotFound},
		{"no-token", do(t, "GET", ts.URL+"/files/T1/", ""), http.StatusNotFound},
		{"callers-token", do(t, "GET", ts.URL+"/files/T1/of-callers/a.html", ""), http.StatusNotFound},
		{"post", do(t, "POST", url, "{}"), http.StatusMethodNotAllowed},
		{"foreign-page", do(t, "GET", url, "", "Origin", "https://evil.example"), http.StatusForbidden},
		{"foreign-host", do(t, "GET", url, "", "Host", "evil.example"), http.StatusMisdirectedRequest},
	} {
		if c.got.status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.what, c.got.status, c.status, c.got.body)
		}
	}
	ts.Close() // then all is logged
	if strings.Contains(log.String(), "wrong-token") || !strings.Contains(log.String(), "/files/{task}/{token}") {
		t.Errorf("the log has the token: %s", log.String())
	}
	none := start(t, Config{})
	if got := do(t, "GET", none.URL+"/files/T1/token/a.html", ""); got.status != http.StatusNotFound {
		t.Errorf("without files: %d", got.status)
	}
}
