package fakeplatform_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestRestart(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		a := newAgent(t, says("ready"))
		w := p.Add(fakeplatform.Workspace{Secrets: map[string]string{"KEY": "value"}})
		register(t, p, w, a.url)
		old, dir := w.Token(), t.TempDir()
		if err := w.Restart(dir); err != nil || w.Status() != "provisioning" || w.URL() != "" {
			t.Fatalf("%v: %s at %q", err, w.Status(), w.URL())
		}
		text, err := os.ReadFile(filepath.Join(dir, ".auth_token"))
		if err != nil || strings.TrimSpace(string(text)) != w.Token() || w.Token() == old {
			t.Errorf("%v: %s", err, text)
		}
		register(t, p, w, a.url)
		reply := w.RestartContext(t.Context())
		want(t, reply.Status, string(reply.Body), 200, "ready")
		if body := a.body[0]; !strings.Contains(body, `"restart_context":true`) || !strings.Contains(body, "KEY") || strings.Contains(body, "value") || strings.Contains(body, "canvas") {
			t.Errorf("%s", body)
		}
	})
}

// TestOutageAndReturn has the client meet the platform before, in and after an outage.
func TestOutageAndReturn(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{})
	c := platform.New(platform.Config{URL: p.URL, Workspace: w.ID(), Token: platform.Token{Value: w.Token()}})
	t.Cleanup(func() { _ = c.Close() })
	left := make(chan struct{})
	beat := func() error { return c.Heartbeat(t.Context(), platform.Beat{}) }
	if err := beat(); err != nil {
		t.Fatal(err)
	}
	p.Outage(true)
	if err := beat(); err == nil || platform.StatusOf(err) != 0 {
		t.Errorf("in an outage: %v", err)
	}
	p.Outage(false)
	if err := beat(); err != nil {
		t.Errorf("after an outage: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.Behave("*/heartbeat", fakeplatform.Answer(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-left
	}).Times(1))
	if err := c.Heartbeat(ctx, platform.Beat{}); err == nil {
		t.Error("a platform that hangs has answered")
	}
	close(left)
	p.Behave("*/heartbeat", fakeplatform.Slow(time.Millisecond).Times(1))
	if err := beat(); err != nil || len(w.Beats()) != 3 {
		t.Errorf("%v: %d beats", err, len(w.Beats()))
	}
}
