package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// A tenant is a server of a workspace, whose secret can be replaced.
type tenant struct {
	url, work string
	secret    atomic.Value // of string
}

func newTenant(t *testing.T, change ...func(*Config)) *tenant {
	x := &tenant{work: t.TempDir()}
	x.secret.Store("inbound")
	folder := files.New(files.Config{Work: x.work})
	cfg := Config{AnyHost: true, ReplyAsMessage: true, Reply: taskReply, Platform: &Platform{
		Secret: func() string { return x.secret.Load().(string) }, Token: func() string { return "auth-token" }, Files: folder, Version: "v1",
	}}
	for _, f := range change {
		f(&cfg)
	}
	x.url = start(t, cfg).URL
	return x
}

func (x *tenant) uploads(t *testing.T) (names []string) {
	entries, err := os.ReadDir(filepath.Join(x.work, ".molecule/chat-uploads"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".gitignore" {
			names = append(names, e.Name())
		}
	}
	return names
}

func formOf(t *testing.T, add func(*multipart.Writer)) (string, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	add(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func addFile(t *testing.T, w *multipart.Writer, field, name, media, text string) {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", field, name))
	if media != "" {
		h.Set("Content-Type", media)
	}
	part, err := w.CreatePart(h)
	if err == nil {
		_, err = io.WriteString(part, text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestInternalIsClosed(t *testing.T) {
	x := newTenant(t)
	none := newTenant(t, func(c *Config) { c.Platform.Secret = func() string { return "" } })
	alone := start(t, Config{}).URL
	routes := []string{
		"POST /internal/chat/uploads/ingest", "GET /internal/file/read?path=/etc/passwd", "GET /internal/a2a-auth-status",
		"POST /internal/daemons/reload", "GET /internal/schedules", "GET /internal/", "GET /transcript",
	}
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		for url, header := range map[string]string{x.url: "Bearer wrong", none.url: "Bearer ", alone: "Bearer inbound", x.url + "/": "inbound", none.url + "//": ""} {
			a := do(t, method, strings.TrimRight(url, "/")+path, "", "Authorization", header)
			if a.status != http.StatusUnauthorized || a.body != `{"error":"unauthorized"}`+"\n" {
				t.Errorf("%s with %q: %d %s", route, header, a.status, a.body)
			}
		}
	}
	if a := do(t, "POST", x.url+"/internal/daemons/reload", "{}", "Authorization", "Bearer inbound"); a.status != http.StatusNotFound {
		t.Errorf("there are no schedules to load: %d", a.status)
	}
	x.secret.Store("rotated")
	for secret, status := range map[string]int{"inbound": 401, "rotated": 200} {
		a := do(t, "GET", x.url+"/internal/a2a-auth-status", "", "Authorization", "Bearer "+secret, "Host", "ws-0123456789ab:8000")
		if a.status != status {
			t.Errorf("%s: %d %s", secret, a.status, a.body)
		}
		if want := `{"require_auth":false,"inbound_secret_present":true,"ready_to_enforce":true,"runtime_version":"v1"}` + "\n"; status == 200 && a.body != want {
			t.Errorf("status = %s", a.body)
		}
	}
}

func TestIngest(t *testing.T) {
	x := newTenant(t)
	body, media := formOf(t, func(w *multipart.Writer) {
		_ = w.WriteField("other", "x")
		addFile(t, w, "files", "a b.png", "image/png", "one")
		addFile(t, w, "files", "../n.txt", "", "two")
		addFile(t, w, "elsewhere", "no.txt", "", "no")
	})
	a := do(t, "POST", x.url+"/internal/chat/uploads/ingest", body, "Authorization", "Bearer inbound", "Content-Type", media)
	var out struct {
		Files []struct {
			URI, Name, MimeType string
			Size                int64
		}
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != 200 || len(out.Files) != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for i, want := range []string{"a b.png image/png one", "n.txt text/plain two"} {
		f := out.Files[i]
		content, err := os.ReadFile(strings.TrimPrefix(f.URI, "workspace:"))
		if got := fmt.Sprintf("%s %s %s", f.Name, f.MimeType, content); got != want || err != nil || f.Size != 3 {
			t.Errorf("%+v: %q, %v", f, got, err)
		}
		read := do(t, "GET", x.url+"/internal/file/read?path="+strings.ReplaceAll(strings.TrimPrefix(f.URI, "workspace:"), " ", "%20"), "", "Authorization", "Bearer inbound")
		if read.status != 200 || read.body != string(content) {
			t.Errorf("read: %d %q", read.status, read.body)
		}
		wantToBeSaved(t, read)
	}
}

// wantToBeSaved has a browser save an answer, and run nothing of it.
func wantToBeSaved(t *testing.T, a answer) {
	t.Helper()
	how, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
	if err != nil || how != "attachment" || params["filename"] == "" || !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") ||
		a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
		t.Errorf("the headers of a file are %v (%v)", a.header, err)
	}
}

func TestIngestRefuses(t *testing.T) {
	x := newTenant(t)
	good, media := formOf(t, func(w *multipart.Writer) {
		addFile(t, w, "files", "a", "", "one")
		addFile(t, w, "files", "b", "", "two")
	})
	empty, emptyMedia := formOf(t, func(w *multipart.Writer) { _ = w.WriteField("files", "no file") })
	many, manyMedia := formOf(t, func(w *multipart.Writer) {
		for range mostUploads + 1 {
			addFile(t, w, "files", "a", "", "x")
		}
	})
	for name, c := range map[string]struct {
		body, media string
		status      int
	}{
		"no-form":  {"{}", "application/json", 400},
		"no-files": {empty, emptyMedia, 400},
		"cut":      {good[:len(good)-60], media, 400},
		"too-many": {many, manyMedia, 400},
	} {
		a := do(t, "POST", x.url+"/internal/chat/uploads/ingest", c.body, "Authorization", "Bearer inbound", "Content-Type", c.media)
		if a.status != c.status || !strings.HasPrefix(a.body, `{"error":"`) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	// More than there may be, without a length that says so.
	pipe, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"big\"\r\n\r\n")
		piece := make([]byte, 1<<20)
		for range 102 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "\r\n--b--\r\n")
		_ = w.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.url+"/internal/chat/uploads/ingest", pipe)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer inbound")
	req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		defer res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("too large: %s", res.Status)
		}
	}
	_ = pipe.Close()
	if left := x.uploads(t); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestIngestOfWhoGoes has the platform go away in the middle of an upload.
func TestIngestOfWhoGoes(t *testing.T) {
	x := newTenant(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "POST /internal/chat/uploads/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer inbound\r\n"+
		"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n"+
		"--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\nhalf")
	deadline := time.Now().Add(long)
	for len(x.uploads(t)) == 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	_ = conn.Close()
	for len(x.uploads(t)) != 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left over: %v", x.uploads(t))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestReadFile(t *testing.T) {
	x := newTenant(t)
	secret := filepath.Join(x.work, ".platform_inbound_secret")
	if err := os.WriteFile(secret, []byte("inbound"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, status := range map[string]int{"": 400, "a.txt": 400, "/a%00b": 400, "/etc/passwd": 403, secret: 403, x.work + "/none": 404, x.work: 403} {
		a := do(t, "GET", x.url+"/internal/file/read?path="+path, "", "Authorization", "Bearer inbound")
		if a.status != status || !strings.HasPrefix(a.body, `{"error":"`) {
			t.Errorf("%q: %d %s", path, a.status, a.body)
		}
	}
}

func TestTranscript(t *testing.T) {
	x := newTenant(t)
	for query, want := range map[string]string{
		"":                   `200 {"runtime":"codex","supported":false,"lines":[],"cursor":0,"more":false,"source":null}`,
		"?since=7&limit=100": `200 {"runtime":"codex","supported":false,"lines":[],"cursor":7,"more":false,"source":null}`,
		"?since=x":           `400 {"error":"since and limit must be whole numbers"}`,
		"?limit=1.5":         `400 {"error":"since and limit must be whole numbers"}`,
	} {
		a := do(t, "GET", x.url+"/transcript"+query, "", "Authorization", "Bearer auth-token")
		if got := fmt.Sprintf("%d %s", a.status, strings.TrimSpace(a.body)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestRequireAuth closes every door of A2A, and leaves the card open.
func TestRequireAuth(t *testing.T) {
	x := newTenant(t, func(c *Config) { c.Platform.RequireAuth = true })
	for route, with := range map[string]int{"POST /": 200, "POST /a2a": 200, "GET /tasks": 200, "GET /v1/card": 200} {
		method, path, _ := strings.Cut(route, " ")
		body := ""
		if method == "POST" {
			body = v0Send1(`{"messageId":"m","parts":[{"text":"hi"}]}`)
		}
		if a := do(t, method, x.url+path, body); a.status != 401 {
			t.Errorf("%s without the secret: %d %s", route, a.status, a.body)
		}
		if a := do(t, method, x.url+path, body, "Authorization", "Bearer inbound"); a.status != with {
			t.Errorf("%s with the secret: %d %s", route, a.status, a.body)
		}
	}
	for _, path := range []string{"/.well-known/agent-card.json", "/healthz"} {
		if a := do(t, "GET", x.url+path, ""); a.status != 200 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	x.secret.Store("")
	if a := do(t, "POST", x.url+"/", "{}", "Authorization", "Bearer "); a.status != 401 {
		t.Errorf("without a secret of ours: %d", a.status)
	}
}

// TestNoDeadlock has the platform call back while a message of its own is being answered,
// as it does when we upload a file.
func TestNoDeadlock(t *testing.T) {
	var x *tenant
	body, media := formOf(t, func(w *multipart.Writer) { addFile(t, w, "files", "a", "", "one") })
	x = newTenant(t, func(c *Config) {
		c.Handler = &fakeHandler{send: func(_ context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
			if a := do(t, "POST", x.url+"/internal/chat/uploads/ingest", body, "Authorization", "Bearer inbound", "Content-Type", media); a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
			return echoTask(req), nil
		}}
	})
	if a := do(t, "POST", x.url, v0Send1(`{"messageId":"m","parts":[{"text":"hi"}]}`)); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
