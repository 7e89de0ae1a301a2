package told

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestChange(t *testing.T) {
	long := "# Rules\n\n" + strings.Repeat("A rule of many words that stays as it is. ", 20)
	for name, c := range map[string]struct{ before, now, want string }{
		"unknown":      {"", "# A\n\nnew", changedInstructions + "# A\n\nnew"},
		"short":        {"old", "new", changedInstructions + "new"},
		"added":        {long, long + "\n\n## Two\n\ntwo", changedParts + "## Two\n\ntwo"},
		"gone":         {"# One\n\none\n\n" + long, long, goneParts + "# One"},
		"replaced":     {"# One\n\nof it\n\none\n\n" + long, "# One\n\nof it\n\ntwo\n\n" + long, changedParts + "# One\n\nof it\n\ntwo"},
		"both":         {"# One\n\none\n\n" + long, long + "\n\n# Two\n\ntwo", changedParts + "# Two\n\ntwo\n\n" + goneParts + "# One"},
		"order":        {"# One\n\none\n\n" + long, long + "\n\n# One\n\none", changedInstructions + long + "\n\n# One\n\none"},
		"level":        {"## One\n\none\n\n" + long, "# One\n\none\n\n" + long, changedParts + "# One\n\none\n\n" + goneParts + "## One"},
		"blanks":       {"# One\n\none\n\n" + long, "# One\n\none\n\n\n" + long, changedInstructions + "# One\n\none\n\n\n" + long},
		"code":         {"# One\n\n```\n# no heading\n```\n\nold\n\n" + long, "# One\n\n```\n# no heading\n```\n\nnew\n\n" + long, changedParts + "# One\n\n```\n# no heading\n```\n\nnew"},
		"parts":        {"# One\n\none\n\n## Part\n\npart\n\n" + long, "# Two\n\n## Part\n\npart\n\n" + long, changedInstructions + "# Two\n\n## Part\n\npart\n\n" + long},
		"code-in-code": {"# One\n\n```\n```go\n# no\n```\n\nold\n\n" + long, "# One\n\n```\n```go\n# no\n```\n\nnew\n\n" + long, changedParts + "# One\n\n```\n```go\n# no\n```\n\nnew"},
		"longer-fence": {long + "\n\n# One\n\n````\n```\n# no\n````\n\nold", long + "\n\n# One\n\n````\n```\n# no\n````\n\nnew", changedParts + "# One\n\n````\n```\n# no\n````\n\nnew"},
		"beginning":    {"one\n\n" + long, "two\n\n" + long, changedInstructions + "two\n\n" + long},
		"no-beginning": {"one\n\n" + long, long, changedInstructions + long},
		"twice":        {long, long + "\n\n# Rules\n\nmore", changedInstructions + long + "\n\n# Rules\n\nmore"},
		"below":        {"one\n\n" + long, "one\n\n" + long + "\n\n### Third\n\nmore", changedInstructions + "one\n\n" + long + "\n\n### Third\n\nmore"},
	} {
		var v Versions
		if c.before != "" {
			v.Keep("known", c.before)
		}
		if got := v.Change("known", c.now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var v Versions
	for digest := range strings.FieldsSeq("a b c d e e") {
		v.Keep(digest, "text of "+digest)
	}
	if _, ok := v.text("a"); ok || len(v.last) != mostVersions {
		t.Errorf("kept are %v", v.last)
	}
}

func TestPieces(t *testing.T) {
	for name, text := range map[string]string{
		"short": "words", "lines": strings.Repeat("a line of words\n", 1000), "one-word": strings.Repeat("x", 10_000), "wide": strings.Repeat("\U0001F600", 5000),
	} {
		all := Pieces("key", text)
		var whole strings.Builder
		for _, key := range slices.Sorted(maps.Keys(all)) {
			piece := all[key]
			whole.WriteString(strings.TrimPrefix(piece, goesOn))
			if len(piece) > mostPiece+len(goesOn) || strings.HasPrefix(piece, goesOn) == (key == "key_part_001" || key == "key") || strings.ToValidUTF8(piece, "") != piece || name == "lines" && !strings.HasSuffix(piece, "\n") {
				t.Errorf("%s: %s has %d bytes, %q at its end", name, key, len(piece), piece[len(piece)-4:])
			}
		}
		if whole.String() != text {
			t.Errorf("%s: together they are not the text", name)
		}
	}
}
