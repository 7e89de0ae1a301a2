package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

func TestPage(t *testing.T) {
	p := fakeplatform.New(fakeplatform.AUG)
	t.Cleanup(p.Close)
	worker := p.Add(fakeplatform.Workspace{Name: "worker", Reply: func(text string) string { return "<read> " + text }})
	s := httptest.NewServer(page(p, worker))
	t.Cleanup(s.Close)
	res, err := http.PostForm(s.URL+"/say", url.Values{"text": {"hello <b>"}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	reply, _ := io.ReadAll(res.Body)
	if !json.Valid(reply) || res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, reply)
	}
	res, err = http.Get(s.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	shown, _ := io.ReadAll(res.Body)
	if !strings.Contains(string(shown), worker.ID()) || strings.Contains(string(shown), "hello <b>") || !strings.Contains(string(shown), "canvas_user") {
		t.Errorf("%s", shown)
	}
}

func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it starts, and ends at once
	dir := filepath.Join(t.TempDir(), "configs")
	for _, era := range fakeplatform.Eras() {
		if err := run(ctx, []string{"-addr", "127.0.0.1:0", "-configs", dir, "-era", strings.ToLower(era.String())}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".auth_token", "config.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := run(ctx, []string{"-era", "may"}); err == nil || !strings.Contains(err.Error(), "jun or aug") {
		t.Errorf("%v", err)
	}
}
