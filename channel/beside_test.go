package channel_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestUserHearsOfAPeersWait once a day, over a restart too, and the peer has what is its own.
// Of the user's messages nothing is said beside.
func TestUserHearsOfAPeersWait(t *testing.T) {
	longtest.Mark(t)
	dir, d, c := t.TempDir(), &desk{}, &clerk{}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		r := open(t, dir, d, c)
		defer func() { r.stop() }()
		d.put("", "wait")
		time.Sleep(time.Minute)
		d.put("bob", "wait one")
		d.put("eve", "wait two")
		time.Sleep(time.Minute)
		want := []string{"waits", "re: wait", "log in"}
		if told := d.told(); !slices.Equal(told, want) {
			t.Errorf("the user was told %q, want %q", told, want)
		}
		r.stop()
		r = open(t, dir, d, c)
		d.put("bob", "wait three")
		time.Sleep(time.Minute)
		if told := d.told(); !slices.Equal(told, want) {
			t.Errorf("after a restart the user was told %q", told)
		}
		time.Sleep(24 * time.Hour)
		d.put("bob", "wait four")
		time.Sleep(time.Minute)
		if told := d.told(); !slices.Equal(told, append(want, "log in")) {
			t.Errorf("a day later the user was told %q", told)
		}
		letters := d.letters()
		for _, m := range letters {
			if m.Text != "waits" && !strings.HasPrefix(m.Text, "re: wait ") {
				t.Errorf("a peer was told %q", m.Text)
			}
		}
		if len(letters) != 8 {
			t.Errorf("peers were told %d things", len(letters))
		}
	})
}
