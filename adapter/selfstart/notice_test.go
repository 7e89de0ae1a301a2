package selfstart_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestNoticeSaysWhoAndWhat: the user is told who has finished, and how the answer begins,
// as it may be shown. What a message to the model says is not the peer's.
func TestNoticeSaysWhoAndWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		asked := 0
		cfg := selfstart.Config{
			Platform: d, Workspace: "w", Seen: filepath.Join(t.TempDir(), "seen.json"),
			Name: func(_ context.Context, id string) string {
				asked++
				return map[string]string{"peer-1": "Writer"}[id]
			},
			Excerpt: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
		}
		ended := func(id, target, status, preview, failure string) platform.Delegation {
			return platform.Delegation{ID: "r" + id + preview, DelegationID: id, Source: "w", Target: target, Status: status, Preview: preview, Error: failure, CreatedAt: time.Now()}
		}
		d.run(t, cfg, func() {
			after(time.Second)
			d.set(func() { // newest first
				d.rows = []platform.Delegation{
					ended("d", "peer-1", "failed", "", "no hunter2"),
					ended("d", "peer-1", "completed", `{"status":"queued"}`, ""),
					ended("c", "peer-2", "completed", "", ""),
					ended("b", "peer-1", "failed", "", ""),
					ended("a", "peer-1", "completed", "the key is hunter2", ""),
					ended("a", "peer-1", "completed", `{"delegation_id":"a"}`, ""),
				}
			})
			after(31 * time.Second)
		})
		want := []string{
			"“Writer” has finished the task that was delegated to it: “`the key is ***`”",
			"The task that was delegated to “Writer” has failed.",
			"A workspace has finished the task that was delegated to it.",
			"The task that was delegated to “Writer” has failed: “`no ***`”",
		}
		if diff := cmp.Diff(want, d.told); diff != "" {
			t.Error(diff)
		}
		if asked != 2 {
			t.Errorf("%d names were asked for, of two workspaces", asked)
		}
		if sent := d.messages(); len(sent) != 1 || strings.Contains(sent[0].Text, "the key") || strings.Contains(sent[0].Text, "***") {
			t.Errorf("the model is told %+v", sent)
		}
		if kept, err := os.ReadFile(cfg.Seen); err != nil || strings.Contains(string(kept), "hunter2") {
			t.Errorf("written down: %s, %v", kept, err)
		}
	})
}

// TestNoticeWithoutWords: a file of an earlier version has none of them.
func TestNoticeWithoutWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		seen := filepath.Join(t.TempDir(), "seen.json")
		if err := os.WriteFile(seen, []byte(`{"seen":["a"],"pending":[{"id":"a","target":"peer-1","status":"completed"}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		d.run(t, selfstart.Config{Platform: d, Workspace: "w", Seen: seen}, func() { after(time.Second) })
		if len(d.told) != 1 || d.told[0] != "“peer-1” has finished the task that was delegated to it." {
			t.Errorf("the user was told %q", d.told)
		}
	})
}
