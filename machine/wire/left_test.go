package wire_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestLeft(t *testing.T) {
	long := strings.Repeat("é", wire.MostLeftPath)
	many := slices.Repeat([]string{"x"}, wire.MostLeft+1)
	for name, c := range map[string]struct{ said, read wire.Left }{
		"nothing": {},
		"some":    {wire.Left{Paths: []string{"a\n", "ü"}, Count: 7}, wire.Left{Paths: []string{"a\n", "ü"}, Count: 7}},
		"many":    {wire.Left{Paths: many, Count: 1}, wire.Left{Paths: many[1:], Count: wire.MostLeft}},
		"long":    {wire.Left{Paths: []string{"a" + long}, Count: 1}, wire.Left{Paths: []string{"a" + long[:wire.MostLeftPath-2]}, Count: 1}},
	} {
		text := c.said.Text()
		if got, err := wire.ParseLeft(text); err != nil || !reflect.DeepEqual(got, c.read) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if strings.ContainsAny(text, "\r\n\x7f") {
			t.Errorf("%s: %q is nothing for a header", name, text)
		}
	}
	if _, err := wire.ParseLeft("{}"); err == nil {
		t.Error("what is no text of ours is read")
	}
}
