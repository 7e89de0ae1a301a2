package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// replyParts are the parts of the artifact that is the task's reply.
func replyParts(task object) []any {
	id := at(task, "metadata", "reply")
	artifacts, _ := task["artifacts"].([]any)
	for _, a := range artifacts {
		if at(a, "artifactId") == id {
			parts, _ := at(a, "parts").([]any)
			return parts
		}
	}
	return nil
}

// download gets a file by its URL, from a place on if that is not negative.
func download(t *testing.T, url, ranges string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ranges != "" {
		req.Header.Set("Range", ranges)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// TestFilesOfAReply: codex writes files and names them. The caller gets the small one in
// the answer and the large one by a URL, as they were at the end of the turn, also after
// a restart; a secret is not handed out, by its name or by a link.
func TestFilesOfAReply(t *testing.T) {
	t.Parallel()
	p := start(t)
	if err := os.WriteFile(filepath.Join(p.Work, ".auth_token"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	small, large, link, secret := filepath.Join(p.Work, "small.md"), filepath.Join(p.Work, "large.bin"), filepath.Join(p.Work, "link.txt"), filepath.Join(p.Work, ".auth_token")
	task := p.send("m1", "one", "run printf one > small.md; head -c 3000000 /dev/zero > large.bin; ln -s .auth_token link.txt\n"+
		"say I wrote "+small+", `"+large+"`, "+link+" and "+secret)
	parts := replyParts(task)
	if len(parts) != 3 {
		t.Fatalf("parts = %v", parts)
	}
	if at(parts[1], "raw") != base64.StdEncoding.EncodeToString([]byte("one")) || at(parts[1], "filename") != "small.md" || at(parts[1], "mediaType") != "text/markdown" {
		t.Errorf("the small file is %v", parts[1])
	}
	url, _ := at(parts[2], "url").(string)
	if !strings.HasPrefix(url, p.URL+"/files/") || at(parts[2], "metadata", "size") != 3e6 || at(parts[2], "metadata", "expiresAt") == nil {
		t.Fatalf("the large file is %v", parts[2])
	}
	for _, name := range []string{small, large} {
		if err := os.WriteFile(name, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		res, body := download(t, url, "")
		if res.StatusCode != http.StatusOK || !bytes.Equal([]byte(body), make([]byte, 3_000_000)) {
			t.Errorf("HTTP %d, %d bytes", res.StatusCode, len(body))
		}
		if res, body = download(t, url, "bytes=2999990-"); res.StatusCode != http.StatusPartialContent || len(body) != 10 {
			t.Errorf("a range: HTTP %d, %d bytes", res.StatusCode, len(body))
		}
		if res, _ = download(t, strings.Replace(url, "/files/", "/files/x", 1), ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("of another task: HTTP %d", res.StatusCode)
		}
		p.again()
		url = p.URL + url[strings.Index(url, "/files/"):] // another port
		again := replyParts(p.get(task["id"]))
		if len(again) != 3 || at(again[1], "raw") != at(parts[1], "raw") || at(again[2], "url") != url {
			t.Errorf("after a restart: %v", again)
		}
	}
	old := p.call("tasks/get", object{"id": task["id"]})
	result, _ := old["result"].(object)
	if got := replyParts(result); len(got) != 3 || at(got[1], "file", "bytes") != at(parts[1], "raw") {
		t.Errorf("by 0.3 the files are %v", got)
	}
}

// TestReferencesOfAReply: codex names what it has written in the forms that its prompts
// teach, the pinned one's and those of earlier ones. A source that it only speaks of is
// no file for the caller.
func TestReferencesOfAReply(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	source := filepath.Join(p.Work, "main.go")
	if err := os.WriteFile(source, []byte("package main"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(source, past, past); err != nil {
		t.Fatal(err)
	}
	task := p.send("m1", "one", "run mkdir 'My Project'; printf 1 > app.py; printf 2 > 'My Project/My Report.md'; printf 3 > short.md; printf 4 > link.md\n"+
		"say `main.go` has [app.py]("+p.Work+"/app.py:12), [My Report.md](<"+p.Work+"/My Project/My Report.md:3>), `./short.md:1` and [it](link.md#L1)")
	var got []string
	for _, part := range replyParts(task)[1:] {
		raw, _ := at(part, "raw").(string)
		content, err := base64.StdEncoding.DecodeString(raw)
		got = append(got, fmt.Sprint(at(part, "filename"), " ", string(content)))
		if err != nil {
			t.Error(err)
		}
	}
	if want := []string{"app.py 1", "My Report.md 2", "short.md 3", "link.md 4"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestPictureOfATurn: codex makes a picture with the tool that it has with a ChatGPT
// login, and the caller gets it.
func TestPictureOfATurn(t *testing.T) {
	t.Parallel()
	issuer := fakelogin.Start(t)
	issuer.Approve()
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if turn.Headers.Get("Authorization") == "" {
			turn.Fail(http.StatusUnauthorized, `{"error":{"message":"no key"}}`)
			return
		}
		fakemodel.Keywords(turn)
	})
	home := codextest.Home(t)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(issuer.Config(model.BaseURL())), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{Program: progtest.Start(t, binary, append(issuer.Env(), "CODEX_HOME="+home, "RUNTIME_LOG=debug")...), Model: model, t: t}
	login := p.begin("m1", "one", "say logged in")
	p.ended(login["id"])
	task := p.send("m2", "one", `call image_gen::imagegen {"prompt":"a dot"}`)
	artifacts, _ := task["artifacts"].([]any)
	for _, a := range artifacts {
		if part := at(a, "parts", 0); at(part, "raw") == fakemodel.Picture && at(part, "mediaType") == "image/png" && at(part, "filename") == "image.png" {
			return
		}
	}
	t.Errorf("no picture in %v", artifacts)
}
