package platform_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A site is a double, a workspace on it, and the client of that.
type site struct {
	*platform.Client
	p   *fakeplatform.Platform
	w   *fakeplatform.Handle
	dir string
	cfg platform.Config
}

func eras(t *testing.T, test func(t *testing.T, era fakeplatform.Era)) {
	for _, era := range fakeplatform.Eras() {
		t.Run(era.String(), func(t *testing.T) { test(t, era) })
	}
}

// newSite makes a workspace whose token stands in its configuration.
func newSite(t *testing.T, era fakeplatform.Era, change ...func(*platform.Config)) *site {
	t.Helper()
	p := fakeplatform.Start(t, era)
	s := &site{p: p, w: p.Add(fakeplatform.Workspace{Name: "us"}), dir: t.TempDir()}
	s.cfg = platform.Config{
		URL: p.URL, Workspace: s.w.ID(), Org: "org", Dir: s.dir,
		Token: platform.Token{Files: []string{filepath.Join(s.dir, platform.TokenFile)}},
	}
	s.cfg.Files = &regular.Keeper{}
	for _, f := range change {
		f(&s.cfg)
	}
	put(t, filepath.Join(s.dir, platform.TokenFile), s.w.Token()+"\n")
	s.Client = platform.New(s.cfg)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *site) register(t *testing.T) {
	t.Helper()
	_, err := s.Register(t.Context(), platform.Registration{URL: "http://localhost:9", Card: card(), DeliveryMode: "push"})
	if err != nil {
		t.Fatal(err)
	}
}

func card() map[string]any { return map[string]any{"name": "us", "skills": []any{}} }

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}
