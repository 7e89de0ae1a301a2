package peerwords_test

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
)

// TestWithoutMentions: what codex takes for a mention is taken apart, code is left what it is,
// and sums are left alone.
func TestWithoutMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"use $evil, x$evil's $$evil `$evil`": "use ${evil}, x${evil}'s $${evil} `${evil}`",
		"$HOME/bin:$PATH ${x} $(ls) $1 $@":   "${HOME}/bin:${PATH} ${x} $(ls) $1 $@",
		"$a-b $a:b $__ $_1":                  "${a}-b ${a}:b ${__} ${_1}",
		"$5 $5.50 $1,000 US$5-10":            "$5 $5.50 $1,000 US$5-10",
		"$5k $-x $:y $3d-print":              "$ 5k $ -x $ :y $ 3d-print",
		"[$evil](/x/SKILL.md)":               "[$ evil](/x/SKILL.md)",
		"[$5] \n\t(skill:///x) [$5]":         "[$ 5] \n\t(skill:///x) [$5]",
		"[@evil](plugin://evil) @evil":       "[@ evil](plugin://evil) @evil",
		"[$a](b[$c](d)":                      "[$ a](b[$ c](d)",
		"$évil $ evil ＄evil $":               "$évil $ evil ＄evil $",
	} {
		got := peerwords.WithoutMentions(text)
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if again := peerwords.WithoutMentions(got); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
		if words := peerwords.Within(peerwords.Message("bob", text)); words != want {
			t.Errorf("a message has %q, want %q", words, want)
		}
	}
}
