package selfstart_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestDamagedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{rows: []platform.Delegation{row("1", "a", "completed", time.Now().Add(-time.Hour))}}
		file := filepath.Join(t.TempDir(), "seen.json")
		if err := os.WriteFile(file, []byte("{cut"), 0o600); err != nil {
			t.Fatal(err)
		}
		d.run(t, selfstart.Config{Platform: d, Workspace: "w", Seen: file}, func() { after(time.Minute) })
		kept, _ := os.ReadFile(file + ".damaged")
		if len(d.messages()) != 0 || !bytes.Equal(kept, []byte("{cut")) {
			t.Errorf("sent %+v; kept %q", d.messages(), kept)
		}
	})
}

// TestSeenIsBounded: the platform shows fifty rows, and the file is written with each.
func TestSeenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		path := filepath.Join(t.TempDir(), "seen.json")
		d.run(t, selfstart.Config{Platform: d, Workspace: "w", Seen: path}, func() {
			for batch := range 30 {
				rows := []platform.Delegation{}
				for i := range 50 {
					id := fmt.Sprintf("%d-%d", batch, i)
					rows = append(rows, row(id, id, "completed", time.Now()))
				}
				d.set(func() { d.rows = rows })
				after(31 * time.Second)
			}
		})
		text, err := os.ReadFile(path)
		var kept struct{ Seen, Pending, Sending []any }
		if err := errors.Join(err, json.Unmarshal(text, &kept)); err != nil || len(kept.Seen) > 1000 ||
			len(kept.Pending)+len(kept.Sending) > 1000 || !bytes.Contains(text, []byte(`"29-49"`)) {
			t.Errorf("%d delegations in the file, %d to be told, %v", len(kept.Seen), len(kept.Pending)+len(kept.Sending), err)
		}
	})
}

// TestMessageIsNotGuessed: the peer knows the delegation's id, and must not be able to send
// something under that of our message before we do.
func TestMessageIsNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := map[string]bool{}
		for range 2 {
			d := &double{}
			cfg := selfstart.Config{Platform: d, Workspace: "w", Seen: filepath.Join(t.TempDir(), "seen.json")}
			d.run(t, cfg, func() { after(time.Second) })
			d.rows = []platform.Delegation{row("1", "a", "completed", time.Now())}
			d.run(t, cfg, func() { after(time.Second) })
			for _, m := range d.messages() {
				ids[m.ID] = true
			}
		}
		if len(ids) != 2 {
			t.Errorf("two messages about the same delegation have the ids %v", ids)
		}
	})
}
