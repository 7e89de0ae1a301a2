package platform_test

import (
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestHeldToken: a command of our own user that holds the token's file does not come between
// the workspace and its platform.
func TestHeldToken(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	s.register(t)
	leasetest.Hold(t, filepath.Join(s.dir, platform.TokenFile))
	if _, err := s.Peers(t.Context()); err != nil {
		t.Errorf("while it is held: %v", err)
	}
}

// TestHeldFilesAreReplaced: what the platform gives out is kept though what it replaces is
// held, and though it is held itself before it is read.
func TestHeldFilesAreReplaced(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	s.register(t)
	token, secret := filepath.Join(s.dir, platform.TokenFile), filepath.Join(s.dir, platform.InboundSecretFile)
	leasetest.Hold(t, token)
	leasetest.Hold(t, secret)
	s.p.Behave("*/state", fakeplatform.Refuse(200, `{"status":"online"}`)) // every token is good
	s.p.Behave("/registry/*", fakeplatform.Refuse(200, `{"auth_token":"the-token-given-next","platform_inbound_secret":"the-secret-given-next"}`))
	s.register(t)
	if got := content(t, token) + content(t, secret); got != "the-token-given-next\nthe-secret-given-next\n" {
		t.Errorf("kept are %q", got)
	}
	leasetest.Hold(t, token)
	leasetest.Hold(t, secret)
	if got, err := s.cfg.Files.Read(secret, 100); string(got) != "the-secret-given-next\n" || err != nil {
		t.Errorf("the secret, held before it is read, is %q, %v", got, err)
	}
	_, _ = s.Peers(t.Context())
	requests := s.p.Requests()
	if got := requests[len(requests)-1].Header.Get("Authorization"); got != "Bearer the-token-given-next" {
		t.Errorf("the token, held before it is read, is %q", got)
	}
}
