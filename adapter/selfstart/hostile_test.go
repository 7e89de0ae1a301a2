package selfstart_test

import (
	"fmt"
	"os"
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

// TestLongIDs of delegations are not remembered, by this version or from one before it.
func TestLongIDs(t *testing.T) {
	for name, before := range map[string]int{"new": 0, "from-before": 17 << 20} {
		synctest.Test(t, func(t *testing.T) {
			d := &double{}
			path := filepath.Join(t.TempDir(), "seen.json")
			if before > 0 {
				if err := os.WriteFile(path, []byte(`{"seen":["`+strings.Repeat("x", before)+`"]}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d.run(t, selfstart.Config{Platform: d, Workspace: "us", Seen: path}, func() {
				after(time.Minute)
				long := strings.Repeat("x", 1<<20)
				d.set(func() {
					d.rows = []platform.Delegation{
						row("r1", long, "completed", time.Now()), row(long, "", "failed", time.Now()), row("r2", "d2", "completed", time.Now()),
					}
					for i := range d.rows {
						d.rows[i].Source = "us"
					}
				})
				after(10 * time.Minute)
			})
			info, err := os.Stat(path)
			if err != nil || info.Size() > 4<<10 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
			if told := d.messages(); len(told) != 1 || !strings.Contains(told[0].Text, "d2") || len(told[0].Text) > 1<<10 {
				t.Errorf("%s: %d messages: %.2000v", name, len(told), told)
			}
		})
	}
}
