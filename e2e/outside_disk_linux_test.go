package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestMCPHostDiskFull: on a full disk messages stay on the platform, and the host is told why none comes; what was shown
// before can be answered, and what came meanwhile is shown when there is room.
func TestMCPHostDiskFull(t *testing.T) {
	state := volume(t, 40)
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG), "RUNTIME_STATE_DIR="+state)
	x.say("one")
	one, _, _ := x.waits()
	filler := filepath.Join(filepath.Dir(state), "filler")
	if err := os.WriteFile(filler, make([]byte, 26<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := x.reply(one, "answer one"); got["replied"] != true {
		t.Errorf("%v", got)
	}
	x.say("two")
	progtest.WaitFor(t, "the host to be told", func() bool {
		got := x.call("wait_for_message", object{"timeout_secs": 0.2})
		if got["activity_id"] != nil {
			t.Fatalf("%v", got)
		}
		warning, _ := got["warning"].(string)
		return strings.Contains(warning, "nothing can be kept on this machine")
	})
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	two, text, _ := x.waits()
	if text != "two" {
		t.Errorf("got %q", text)
	}
	x.reply(two, "answer two")
	if told := x.told(2); len(told) != 2 || told[0] != "answer one" || told[1] != "answer two" {
		t.Errorf("the user was told %q", told)
	}
}
