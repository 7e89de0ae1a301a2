package brief

import "testing"

func TestPlain(t *testing.T) {
	const joined = "as they are written: \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937" // emoji of several, a keycap, Persian, Hindi
	for text, want := range map[string]string{
		"":                            "",
		"as it is: ünï\n\tcødé 😀":     "as it is: ünï\n\tcødé 😀",
		"dos\r\n":                     "dos\n",
		"rm -rf x\x1b[2K\r echo safe": `rm -rf x\x1b[2K\r echo safe`,
		"ls\u2028yes\u2029":           `ls\u2028yes\u2029`,
		"r\u200bm\u2060 \ufeff-r\u00adf\u2028 \U000e0041": `r\u200bm\u2060 \ufeff-r\u00adf\u2028 \U000e0041`,
		"a\u200db\ufe0fc":               `a\u200db\ufe0fc`,
		"é\u200d\u200d\u202e":           `é` + "\u200d" + `\u200d\u202e`,
		"\x9b2J is \xff, \ufffd is not": `\x9b2J is \xff, ` + "\ufffd is not",
		joined:                          joined,
		"a\u3164b\u115f\u1160c\u2800\u034f\uffa0\u17b4": `a\u3164b\u115f\u1160c\u2800\u034f\uffa0\u17b4`,
		"é\ufe0f\ufe00 x\U000e0100 é\U000e0100":         `é\ufe0f\ufe00 x\U000e0100 é\U000e0100`,
		"Non\u00a0! はい\u3000いいえ":                        "Non\u00a0! はい\u3000いいえ",
		"葛\U000e0100 ℹ\ufe0f ☺\ufe0e":                   "葛\U000e0100 ℹ\ufe0f ☺\ufe0e",
		"\x00\x07\x7f\u009b2J\u202eyes":                 `\x00\a\x7f\u009b2J\u202eyes`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestLiteral has no blank in it that a shell would not take for one, and no end of a line that it
// would not take for no more than that.
func TestLiteral(t *testing.T) {
	const text = "a b\u00a0c\u1680d\u2000e\u2003f\u200ag\u202fh\u205fi\u3000j\u202e \\\r\n k"
	if got, want := Literal(text), `a b\u00a0c\u1680d\u2000e\u2003f\u200ag\u202fh\u205fi\u3000j\u202e \\r`+"\n k"; got != want {
		t.Errorf("%q is shown as %q, want %q", text, got, want)
	}
}

// TestNamed quotes a name that is more than a line, or less than it looks.
func TestNamed(t *testing.T) {
	for name, want := range map[string]string{"/w/a b": "/w/a b", "": "", "a\nb": `"a\nb"`, "a\u00a0b": `"a\u00a0b"`, "a\u202eb": `"a\u202eb"`} {
		if got := Named(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}
