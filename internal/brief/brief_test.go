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

func TestWhole(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one two", "one two"},
		{"one two three", "one two"},
		{"one two\nfour", "one two"},
		{"äääääää", "ää"},
		{"a äääääääää", "a ä"},
	} {
		if got := brief.Whole(c.text, 10); got != c.want {
			t.Errorf("Whole(%q, 10) = %q, want %q", c.text, got, c.want)
		}
	}
}
