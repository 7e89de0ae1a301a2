package brief

import (
	"encoding/json"
	"testing"
	"unicode"
)

// TestJSON has the same value for a program, and nothing that a terminal does not show.
func TestJSON(t *testing.T) {
	var all []rune
	for r := range rune(unicode.MaxRune + 1) {
		if acts(r) || r < 0x300 {
			all = append(all, r)
		}
	}
	for _, value := range []string{"as it is: ünï\n\tcødé 😀 <&>", "\x1b[2J\u009b2J\u202e\u2800\u3164\u00a0\x7f\U000e0041 \u2028", string(all)} {
		whole, err := json.MarshalIndent(map[string]string{value: value}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		plain := JSON(string(whole))
		var got map[string]string
		if err := json.Unmarshal([]byte(plain), &got); err != nil || got[value] != value {
			t.Errorf("%.80q is %.80q afterwards, %v", value, got, err)
		}
		if Plain(plain) != plain {
			t.Errorf("%.80q has %.200q in it", value, plain)
		}
	}
	if got, want := JSON("\"\xff\u202e\U000e0041\""), `"\ufffd\u202e\udb40\udc41"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
