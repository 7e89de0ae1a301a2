package platform

import (
	"encoding/json"
	"strings"
	"testing"
)

func nested(levels int, open, inner, end string) string {
	return strings.Repeat(open, levels) + inner + strings.Repeat(end, levels)
}

// TestFlatten: what is too deep is null, and everything else as it was.
func TestFlatten(t *testing.T) {
	const within = mostLevels - 1 // below the list that all stand in
	in := func(what string) string { return nested(within, "[", what, "]") }
	for name, c := range map[string]struct{ text, want string }{
		"as deep as may be": {in("7"), in("7")},
		"one more":          {in("[10]"), in("null")},
		"an empty one":      {in("[]"), in("[]")},
		"many more":         {in(nested(9_900, `{"a":`, "1", "}")), in("null")},
		"some beside":       {in(`1,[2,3],"x",{"a":[]},[4]`), in(`1,null,"x",null,[4]`)},
		"brackets in texts": {`"` + strings.Repeat("[", 100) + `"`, `"` + strings.Repeat("[", 100) + `"`},
		"escapes in texts":  {in(`["\\","]",{"\"":"\"]"}],"\"[[",8`), in(`null,"\"[[",8`)},
	} {
		text := []byte("[" + c.text + `,"end"]`)
		flatten(text)
		var got, want any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = json.Unmarshal([]byte("["+c.want+`,"end"]`), &want)
		gotText, _ := json.Marshal(got)
		wantText, _ := json.Marshal(want)
		if string(gotText) != string(wantText) {
			t.Errorf("%s: %s, want %s", name, gotText, wantText)
		}
	}
	for _, bad := range []string{
		in("[1,]"), in("[1 2]"), in(`{"a"}`), in(`["x]`), in("[tru]"), in("[[1}]"), in("{[1]}"), in("1[23]"), in("nul[12]"), in(`{"a" [12]}`), in(`"x"[12]`),
		in("[12"), in("[12]") + "]", strings.Repeat("]", 100) + in("[12]"), strings.Repeat("[", 200), in(`["\`), strings.Repeat("}", 100) + strings.Repeat("[", 300),
	} {
		text := []byte(bad)
		if flatten(text); json.Valid(text) {
			t.Errorf("%q is read as %q", bad, text)
		}
	}
}

// FuzzFlatten: what was valid stays so, and what was not does not become so.
func FuzzFlatten(f *testing.F) {
	f.Add("[12]", 70)
	f.Add(`{"a":["\\"]}`, 63)
	f.Fuzz(func(t *testing.T, inner string, levels int) {
		text := []byte(nested(max(0, min(levels, 100)), "[", inner, "]"))
		before := json.Valid(text)
		if flatten(text); json.Valid(text) != before {
			t.Errorf("%q: valid is %v, and was %v", text, !before, before)
		}
	})
}
