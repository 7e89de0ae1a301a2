package platform_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestPresence(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		s.register(t)
		if s.w.Status() != "online" || s.w.URL() != "http://localhost:9" {
			t.Fatalf("%s at %s", s.w.Status(), s.w.URL())
		}
		secret := filepath.Join(s.dir, platform.InboundSecretFile)
		if got, want := strings.TrimSpace(content(t, secret)), s.w.InboundSecret(); got != want {
			t.Errorf("the secret is %q, want %q", got, want)
		}
		if err := s.Heartbeat(t.Context(), platform.Beat{ActiveTasks: 1, CurrentTask: "work", RuntimeState: platform.Wedged}); err != nil {
			t.Fatal(err)
		}
		beat := s.w.Beats()[0]
		if beat.ActiveTasks != 1 || beat.CurrentTask != "work" || s.w.Status() != "degraded" || !strings.Contains(string(beat.Metadata), `"session":false`) {
			t.Errorf("%+v, %s", beat, s.w.Status())
		}
		if era != fakeplatform.APR {
			want := s.w.RotateInboundSecret()
			if err := s.Heartbeat(t.Context(), platform.Beat{}); err != nil || strings.TrimSpace(content(t, secret)) != want {
				t.Errorf("%v: a heartbeat did not bring the new secret", err)
			}
			if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v: %v", err, info.Mode())
			}
		}
		if left, _ := filepath.Glob(filepath.Join(s.dir, ".*.tmp")); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
		state, err := s.State(t.Context())
		if err != nil || state.Deleted || state.Status != "online" && state.Status != "degraded" {
			t.Errorf("%v: %+v", err, state)
		}
	})
}

// TestFirstToken has the platform give out the token, which it does once.
func TestFirstToken(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	s.w.Revoke()
	if err := os.Remove(filepath.Join(s.dir, platform.TokenFile)); err != nil {
		t.Fatal(err)
	}
	s.register(t)
	if got := strings.TrimSpace(content(t, filepath.Join(s.dir, platform.TokenFile))); got != s.w.Token() || got == "" {
		t.Errorf("kept %q, want %q", got, s.w.Token())
	}
	put(t, filepath.Join(s.dir, platform.TokenFile), s.w.Rotate())
	if _, err := s.Peers(t.Context()); err != nil {
		t.Error(err)
	}
	for _, r := range s.p.Requests() { // the one in memory has made room for the file
		if r.Status != 200 {
			t.Errorf("%s %s: %d", r.Method, r.Path, r.Status)
		}
	}
}

// TestTokenThatCannotBeKept is used from memory, and written when that is possible.
func TestTokenThatCannotBeKept(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	s.w.Revoke()
	away := s.dir + ".away"
	if err := os.Rename(s.dir, away); err != nil {
		t.Fatal(err)
	}
	_, err := s.Register(t.Context(), platform.Registration{URL: "http://localhost:9", Card: card()})
	keep, ok := errors.AsType[*platform.KeepError](err)
	if !ok || strings.Contains(keep.Error(), s.w.Token()) {
		t.Fatalf("a token that was lost: %v", err)
	}
	if _, err := s.Peers(t.Context()); err != nil {
		t.Errorf("the token is not used from memory: %v", err)
	}
	if err := os.Rename(away, s.dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Heartbeat(t.Context(), platform.Beat{}); err != nil {
		t.Error(err)
	}
	if got := strings.TrimSpace(content(t, filepath.Join(s.dir, platform.TokenFile))); got != s.w.Token() {
		t.Errorf("the file has %q, want %q", got, s.w.Token())
	}
}

// TestRenewal has many callers with a token that is refused: one of them registers.
func TestRenewal(t *testing.T) {
	var s *site
	var renewals atomic.Int32
	s = newSite(t, fakeplatform.APR, func(c *platform.Config) {
		c.OnUnauthorized = func(ctx context.Context) error {
			renewals.Add(1)
			s.w.Revoke() // what a platform without a live token does
			_, err := s.Register(ctx, platform.Registration{URL: "http://localhost:9", Card: card()})
			return err
		}
	})
	s.w.Rotate()
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if _, err := s.Peers(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if err := s.Heartbeat(t.Context(), platform.Beat{}); err != nil || renewals.Load() != 1 {
		t.Errorf("%v; %d renewals", err, renewals.Load())
	}
}

// TestRenewalThatFails is not tried again by each caller, and says both errors.
func TestRenewalThatFails(t *testing.T) {
	var s *site
	var renewals atomic.Int32
	s = newSite(t, fakeplatform.AUG, func(c *platform.Config) {
		c.OnUnauthorized = func(ctx context.Context) error {
			renewals.Add(1)
			if err := s.Notify(ctx, "from the hook"); platform.StatusOf(err) != 401 {
				t.Errorf("in the hook: %v", err)
			}
			_, err := s.Register(ctx, platform.Registration{URL: "http://localhost:9", Card: card()})
			return err
		}
	})
	s.PauseRenewals(time.Hour)
	s.w.Rotate()
	for range 3 {
		err := s.Heartbeat(t.Context(), platform.Beat{})
		if platform.StatusOf(err) != 401 || !strings.Contains(err.Error(), "registering anew: register:") {
			t.Errorf("%v", err)
		}
	}
	if renewals.Load() != 1 {
		t.Errorf("%d renewals", renewals.Load())
	}
	// A new token in the file ends it all, without the hook.
	put(t, filepath.Join(s.dir, platform.TokenFile), s.w.Token())
	if err := s.Heartbeat(t.Context(), platform.Beat{}); err != nil || renewals.Load() != 1 {
		t.Errorf("%v; %d renewals", err, renewals.Load())
	}
}
