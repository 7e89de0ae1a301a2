package files

import "testing"

// The expressions find nothing in a text that is not shown to them.
func TestNoMentionWithoutItsMarks(t *testing.T) {
	for _, text := range []string{
		"", "plain words", `"quoted.go" 'x.go' <b.go> (c.go) [d.go] {e.go} *f.go* |g.go|`, "see [main.go] (main.go)",
		"file:main.go workspace:main.go", "main.go:12 and main.go#L3", "a\nb\n\nc", "[a]: b.go", "<workspace:a.go>", `\](a.go`[1:2],
	} {
		if mayMention(text) {
			t.Errorf("mayMention(%q) = true: it is no text for this test", text)
		}
		if got := absolutes.FindString(text) + references.FindString(text); got != "" {
			t.Errorf("%q is found in %q, which mayMention keeps from being searched", got, text)
		}
	}
}
