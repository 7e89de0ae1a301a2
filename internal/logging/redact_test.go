package logging

import "testing"

func TestLinesOfSecrets(t *testing.T) {
	r := NewRedactor("-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\nshort\n-----END KEY-----\n")
	for text, want := range map[string]string{
		"bad line: MIIEvQIBADANBgkqh!":        "bad line: ***!",
		"short of a -----BEGIN KEY----- line": "short of a -----BEGIN KEY----- line",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
