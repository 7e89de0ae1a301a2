package brief_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		text, want string
		n          int
	}{
		{"", "", 3},
		{" a\n\tb  c ", "a b c", 5},
		{"abcd", "abcd", 4},
		{"abcde", "abc…", 4},
		{"äöü", "äöü", 3},
		{"äöüß", "äö…", 3},
	} {
		if got := brief.Line(c.text, c.n); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
	if got := brief.Line(strings.Repeat("é ", 1000), 300); utf8.RuneCountInString(got) != 300 || !utf8.ValidString(got) {
		t.Errorf("a long text has %d characters", utf8.RuneCountInString(got))
	}
}

// TestClip says where a text goes on, and halves no character.
func TestClip(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "abcd": "abc…", "äö": "ä…"} {
		if got := brief.Clip(text, 3); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestCleared: no half of a secret is left, wherever it lies.
func TestCleared(t *testing.T) {
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "*") }
	for text, want := range map[string]string{
		"hunter2 at 20 bytes": "* at 20 bytes", strings.Repeat("x", 20): strings.Repeat("x", 20),
		strings.Repeat("x", 21): strings.Repeat("x", 10) + "…", strings.Repeat("ä", 11): strings.Repeat("ä", 5) + "…",
		"hunter2 hunter2 hunter2 hunter2": "…",
	} {
		if got := brief.Cleared(text, 20, redact); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
	for at := range 40 {
		for _, between := range []string{"", " ", "\n\n\n"} {
			text := strings.Repeat("x", at) + between + strings.Repeat("hunter2"+between, 4) + strings.Repeat("x", 40)
			if got := brief.Cleared(text, 20, redact); strings.Contains(got, "hun") {
				t.Errorf("of %q: %q", text, got)
			}
		}
	}
}
