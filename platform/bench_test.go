package platform_test

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// BenchmarkHeartbeat has the platform's part in it.
func BenchmarkHeartbeat(b *testing.B) {
	p := fakeplatform.Start(b, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{})
	c := platform.New(platform.Config{URL: p.URL, Workspace: w.ID(), Dir: b.TempDir(), Token: platform.Token{Value: w.Token()}})
	b.Cleanup(func() { _ = c.Close() })
	for b.Loop() {
		if err := c.Heartbeat(b.Context(), platform.Beat{ActiveTasks: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
