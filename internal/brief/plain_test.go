package brief

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"as it is: ünï\n\tcødé 😀":       "as it is: ünï\n\tcødé 😀",
		"dos\r\n":                       "dos\n",
		"rm -rf x\x1b[2K\r echo safe":   `rm -rf x\x1b[2K\r echo safe`,
		"ls\u2028yes\u2029":             `ls\u2028yes\u2029`,
		"\x00\x07\x7f\u009b2J\u202eyes": `\x00\a\x7f\u009b2J\u202eyes`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
