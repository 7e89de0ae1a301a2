package platform_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestDeletionIsSeen: the row that is open to everyone tells, whatever the token is.
func TestDeletionIsSeen(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		s.register(t)
		if state, err := s.State(t.Context()); err != nil || state.Deleted || state.Paused || state.Status != "online" {
			t.Errorf("%v: %+v", err, state)
		}
		s.w.SetStatus("paused")
		if state, err := s.State(t.Context()); err != nil || state.Deleted || !state.Paused {
			t.Errorf("paused: %v: %+v", err, state)
		}
		s.w.Delete()
		if state, err := s.State(t.Context()); err != nil || !state.Deleted {
			t.Errorf("deleted: %v, %+v", err, state)
		}
		for _, r := range s.p.Requests("GET /workspaces/*") {
			if r.Header.Get("Authorization") != "" {
				t.Error("the token went along")
			}
		}
	})
}

// TestNoDeletion has everything that is none.
func TestNoDeletion(t *testing.T) {
	s := newSite(t, fakeplatform.JUN)
	for name, how := range map[string]fakeplatform.Rudeness{
		"401": fakeplatform.Refuse(401), "403": fakeplatform.Refuse(403), "404": fakeplatform.Refuse(404), "500": fakeplatform.Refuse(500), "429": fakeplatform.TooMany(time.Hour),
		"html 404": fakeplatform.HTML404(), "html 410": fakeplatform.Refuse(410, "<html>gone</html>"), "html 200": fakeplatform.Refuse(200, "<html>removed</html>"),
		"empty 410": fakeplatform.Refuse(410, " "), "other 410": fakeplatform.Refuse(410, `{}`),
		"another's": fakeplatform.Refuse(200, `{"id":"another","status":"removed"}`), "nameless": fakeplatform.Refuse(200, `{"status":"removed"}`), "list": fakeplatform.Refuse(200, `[]`),
		"cut": fakeplatform.Cut(9), "lost": fakeplatform.Lose(),
	} {
		t.Run(name, func(t *testing.T) {
			defer s.p.Behave("GET /workspaces/*", how)()
			if state, err := s.State(t.Context()); err == nil || state.Deleted {
				t.Errorf("%v: %+v", err, state)
			}
		})
	}
	t.Run("never", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer s.p.Behave("GET /workspaces/*", fakeplatform.Answer(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}))()
		if state, err := s.State(ctx); err == nil || state.Deleted {
			t.Errorf("%v: %+v", err, state)
		}
	})
}

// TestStateBehindTheToken is what a platform that shows nothing without one is asked.
func TestStateBehindTheToken(t *testing.T) {
	s := newSite(t, fakeplatform.JUN)
	path := "GET /workspaces/" + s.w.ID()
	s.p.Behave(path, fakeplatform.Refuse(401))
	if state, err := s.State(t.Context()); err != nil || state.Deleted || state.Status != "provisioning" {
		t.Errorf("%v: %+v", err, state)
	}
	s.p.Behave(path+"/state", fakeplatform.Refuse(404, `{"deleted":true}`))
	if state, err := s.State(t.Context()); err != nil || !state.Deleted {
		t.Errorf("deleted: %v, %+v", err, state)
	}
}

// registered is a site with the file of its token, and what stands in that.
func registered(t *testing.T, era fakeplatform.Era) (s *site, file, token string) {
	s = newSite(t, era)
	s.register(t)
	file = filepath.Join(s.dir, platform.TokenFile)
	return s, file, content(t, file)
}

// TestUselessToken is not kept: it is what the registration of a deleted workspace brings.
func TestUselessToken(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s, file, before := registered(t, era)
		s.w.Delete()
		ctx, leave := context.WithCancel(t.Context())
		s.p.Behave("*/state", fakeplatform.Then(leave)) // the runtime ends meanwhile
		_, err := s.Register(ctx, platform.Registration{URL: "http://localhost:9", Card: card()})
		if !errors.Is(err, platform.ErrUselessToken) || content(t, file) != before {
			t.Errorf("%v; the file has %q", err, content(t, file))
		}
		if _, err := s.Peers(t.Context()); platform.StatusOf(err) != 401 {
			t.Errorf("%v", err)
		}
		if sent := s.p.Requests("*/peers")[0].Header.Get("Authorization"); sent != "Bearer "+before[:len(before)-1] {
			t.Error("the useless token is used")
		}
	})
}

// TestUselessTokenUnproved is not kept either: the workspace's row says that it is gone.
func TestUselessTokenUnproved(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s, file, before := registered(t, era)
		s.p.Behave("*/state", fakeplatform.Refuse(503))
		s.w.Delete()
		_, err := s.Register(t.Context(), platform.Registration{URL: "http://localhost:9", Card: card()})
		if !errors.Is(err, platform.ErrUselessToken) || content(t, file) != before {
			t.Errorf("%v; the file has %q", err, content(t, file))
		}
	})
}

// TestRenewalsGetRare: what brings nothing is not asked for at the pace of the calls.
func TestRenewalsGetRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewals := 0
		c := platform.New(platform.Config{
			URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "old"}, HTTP: &http.Client{Transport: &wire{steps: []step{{status: 401, body: "{}"}}}},
			OnUnauthorized: func(context.Context) error { renewals++; return nil },
		})
		for start := time.Now(); time.Since(start) < time.Hour; time.Sleep(5 * time.Second) {
			if _, err := c.Peers(t.Context()); platform.StatusOf(err) != 401 {
				t.Fatal(err)
			}
		}
		if renewals > 20 {
			t.Errorf("%d in an hour", renewals)
		}
	})
}
