package selfstart_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestMoreRowsThanThereCanBe are told each once, some at a time.
func TestMoreRowsThanThereCanBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		cfg := selfstart.Config{Platform: d, Workspace: "us", Seen: filepath.Join(t.TempDir(), "seen.json")}
		d.run(t, cfg, func() {
			after(time.Minute)
			d.set(func() {
				for i := range 5000 {
					id := fmt.Sprintf("d%04d", i)
					d.rows = append(d.rows, platform.Delegation{
						ID: "r" + id, DelegationID: id, Source: "us", Target: "peer", Status: "completed", CreatedAt: time.Now().Add(time.Hour),
					})
				}
			})
			after(30 * time.Minute)
		})
		told := map[string]int{}
		for _, m := range d.messages() {
			lines := strings.Split(m.Text, "\n")
			if len(lines) > 60 {
				t.Errorf("a message of %d lines", len(lines))
			}
			for _, line := range lines {
				if strings.HasPrefix(line, "- delegation d") {
					told[line]++
				}
			}
		}
		if len(told) != 200 {
			t.Errorf("%d results were told", len(told))
		}
		for line, n := range told {
			if n != 1 {
				t.Errorf("%s: %d times", line, n)
			}
		}
	})
}
