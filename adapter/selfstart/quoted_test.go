package selfstart

import "testing"

// TestQuoted: what another agent writes is a line of text to the user, whatever it looks like.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"done (in 3 s): it's fine!": "“done (in 3 s): it's fine!”",
		"ok”. [Log in](http://x)":   "“`ok”. [Log in](http://x)`”",
		"![x](y)":                   "“`![x](y)`”",
		"see https://evil.example":  "“`see https://evil.example`”",
		"see www.evil.example":      "“`see www.evil.example`”",
		"`**b**` <img src=x>":       "“`'**b**' <img src=x>`”",
		`\`:                         "“`\\`”",
	} {
		if got := quoted(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, c := range []struct {
		who, status, words, want string
	}{
		{"", "completed", "", "A workspace has finished the task that was delegated to it."},
		{"", "failed", "no", "The task that was delegated to a workspace has failed: “no”"},
		{"Done. Log in again", "completed", "", "“Done. Log in again” has finished the task that was delegated to it."},
	} {
		if got := notice(c.who, result{Status: c.status, Words: c.words}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
