package adapter

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
)

// TestHeldNote: while a command holds what is noted of links, no conversation trusts what had one, and
// once it is let go none does either; nor where it could not be noted.
func TestHeldNote(t *testing.T) {
	for _, before := range []bool{true, false} {
		w := trust(t)
		s, started, _ := w.starts()
		other := filepath.Join(w.work, "other.toml")
		trusts := func() bool { return s.ThreadConfig(started)["projects"] == nil }
		if !trusts() {
			t.Fatal("it is not trusted at first")
		}
		hold := func() func() { return leasetest.Hold(t, w.noted) }
		letGo := func() {}
		if before {
			letGo = hold()
		}
		w.must(os.Link(filepath.Join(w.codex, "config.toml"), other))
		for _, when := range []string{"with the link", "the link is gone", "the note is held", "and let go"} {
			switch when {
			case "the link is gone":
				w.must(os.Remove(other))
			case "the note is held":
				if !before {
					letGo = hold()
				}
			case "and let go":
				letGo()
			}
			if trusts() {
				t.Errorf("held before: %v; %s: it is trusted", before, when)
			}
		}
		if _, l, _ := w.starts(); l.Distrusted() == nil {
			t.Error("the next process trusts it")
		}
	}
}

// TestNoteHeldAtTheStart: what was seen of links while codex could not be started is known.
func TestNoteHeldAtTheStart(t *testing.T) {
	w := trust(t)
	s, _, _ := w.starts()
	letGo := leasetest.Hold(t, w.noted)
	other := filepath.Join(w.work, "other.toml")
	w.must(os.Link(filepath.Join(w.codex, "config.toml"), other))
	if _, err := s.Prepare(t.Context()); err == nil {
		t.Error("codex is started while the note is held")
	}
	w.must(os.Remove(other))
	letGo()
	if l, err := s.Prepare(t.Context()); err != nil || l.Distrusted() == nil {
		t.Errorf("%v; it is trusted: %v", err, l.Args())
	}
}
