package platform_test

import (
	"errors"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestNoPolling: a platform without poll mode is told from one that refuses something else.
func TestNoPolling(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		s := newSite(t, era)
		has := era != fakeplatform.APR
		if polls, err := s.Polls(t.Context()); err != nil || polls != has {
			t.Errorf("%v: %t", err, polls)
		}
		poll := platform.Registration{Card: card(), DeliveryMode: "poll"}
		if _, err := s.Register(t.Context(), poll); errors.Is(err, platform.ErrNoPolling) == has || has && err != nil {
			t.Errorf("%v", err)
		}
		// A refusal of another kind is none of that, nor is one of which nothing is known.
		if _, err := s.Register(t.Context(), platform.Registration{URL: "http://10.0.0.1:8000", Card: card()}); platform.StatusOf(err) != 400 {
			t.Errorf("%v", err)
		}
		s.p.Behave("GET */activity", fakeplatform.Refuse(500))
		s.p.Behave("POST /registry/register", fakeplatform.Refuse(400, `{"error":"invalid request body"}`))
		if _, err := s.Register(t.Context(), poll); platform.StatusOf(err) != 400 {
			t.Errorf("%v", err)
		}
	})
}
