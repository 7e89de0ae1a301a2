package platform_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestIDsThatLeadElsewhere: dots in the place of an id are a way up in a path, and the
// token would go along.
func TestIDsThatLeadElsewhere(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	for _, id := range []string{".", ".."} {
		for what, call := range map[string]func() error{
			"send":     func() error { _, err := s.Send(t.Context(), id, platform.Message{ID: "m", Text: "x"}); return err },
			"discover": func() error { _, err := s.Discover(t.Context(), id); return err },
			"shared":   func() error { _, err := s.SharedContext(t.Context(), id); return err },
			"upload":   func() error { return s.AckUpload(t.Context(), id) },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("%s %q: %v", what, id, err)
			}
		}
	}
	if asked := s.p.Requests(); len(asked) != 0 {
		t.Errorf("the platform was asked: %+v", asked)
	}
}
