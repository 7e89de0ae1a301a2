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

// TestShapes are taken for secrets, but nothing of another line with them; what is known is
// looked for by itself, too.
// TestKnownInJSON: a secret is one however its text is quoted.
func TestKnownInJSON(t *testing.T) {
	r := NewRedactor("pa<ss\"word&12")
	for _, text := range []string{`{"a":"pa<ss\"word&12"}`, `{"a":"pa\u003css\"word\u002612"}`} {
		if got := r.Known(text); got != `{"a":"***"}` {
			t.Errorf("%s is %s", text, got)
		}
	}
}

func TestShapes(t *testing.T) {
	r := NewRedactor("known-secret")
	for text, want := range map[string]string{
		"bearer\t0123456789":                                "bearer ***",
		"who signed, bearer\n/s/run1":                       "who signed, bearer\n/s/run1",
		"who signed, bearer\r\n/s/r12":                      "who signed, bearer\r\n/s/r12",
		"token = 0123456789012345678901234567890123456789":  "token = ***",
		"token:\n0123456789012345678901234567890123456789":  "token:\n0123456789012345678901234567890123456789",
		"token\n= 0123456789012345678901234567890123456789": "token\n= 0123456789012345678901234567890123456789",
		"known-secret, sk-0123456789":                       "***, sk-***",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got, want := r.Known("known-secret, sk-0123456789"), "***, sk-0123456789"; got != want {
		t.Errorf("known are %q, want %q", got, want)
	}
	if got := (*Redactor)(nil).Known("sk-0123456789"); got != "sk-0123456789" {
		t.Errorf("where none is known: %q", got)
	}
}
