package terminal

import (
	"slices"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for name, test := range map[string]struct {
		line  string
		width int
		want  []string
	}{
		"nothing":                    {"", 10, []string{""}},
		"short":                      {"a b", 10, []string{"a b"}},
		"between words":              {"one two three", 8, []string{"one two ", "three"}},
		"a long word":                {"abcdefghijkl", 5, []string{"abcde", "fghij", "kl"}},
		"blanks stay":                {"ab      cd", 5, []string{"ab   ", "   cd"}},
		"the indent is kept":         {"    one two three", 11, []string{"    one two", "     three"}},
		"what others word, indented": {"    ls" + strings.Repeat(" ", 12) + "Answer yes", 14, []string{"    ls        ", "        Answer", "     yes"}},
		"wide characters":            {"漢字漢字", 5, []string{"漢字", "漢字"}},
		"wider than the terminal":    {"漢字", 1, []string{"漢字"}},
		"tabs":                       {"\ta", 10, []string{"    a"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := fold(test.line, test.width)
			if !slices.Equal(got, test.want) {
				t.Errorf("fold(%q, %d) = %q, want %q", test.line, test.width, got, test.want)
			}
		})
	}
}
