package adapter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestReadTOML(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want any // of the key a; nil where it is not read
	}{
		"plain":            {"a = 1 # [[[", int64(1)},
		"brackets-in-text": {`a = "` + strings.Repeat("[", 1000) + `"`, strings.Repeat("[", 1000)},
		"text-of-lines":    {"a = \"\"\"\n" + strings.Repeat("{.\n", 1000) + `\""""""`, strings.Repeat("{.\n", 1000) + `"""`},
		"literal":          {"a = '''" + strings.Repeat("[.'\n", 1000) + "'''''", strings.Repeat("[.'\n", 1000) + "''"},
		"path-in-literal":  {`a = 'C:\'` + "\n[b.c]", `C:\`},
		"many-in-a-row":    {"a = 1\n" + strings.Repeat("[[b.c]]\nd.e = [1.5, 2.5]\n", 1000), int64(1)},
		"deep-arrays":      {"a = " + strings.Repeat("[", 500_000), nil},
		"deep-lines":       {"a = " + strings.Repeat("[\n", 300_000), nil},
		"deep-tables":      {"a = " + strings.Repeat("{a=", 16_000) + "1" + strings.Repeat("}", 16_000), nil},
		"deep-key":         {strings.Repeat("a.", 32_000) + "a = 1", nil},
		"deep-header":      {"[" + strings.Repeat("'a' . ", 32_000) + "a]", nil},
		"keys-in-tables":   {"a = " + strings.Repeat("{a.a.a.a=", 16) + "1" + strings.Repeat("}", 16), nil},
		"behind-text":      {`x = """a"""""` + "\na = " + strings.Repeat("[", 100) + strings.Repeat("]", 100), nil},
		"many-tables":      {strings.Repeat("[[a]]\n", 30_000), nil},
		"long-header":      {"[" + strings.Repeat("a", 100_000) + "]\n" + numbered("b%d=1\n", 100), nil},
		"long-header-dots": {"[" + strings.Repeat("a", 300_000) + strings.Repeat(".a", 30) + "]", nil},
		"long-inline":      {"a = {" + strings.Repeat("b", 100_000) + " = {" + numbered("c%d=1,", 100) + "d=1}}", nil},
		"long-in-arrays":   {"[" + strings.Repeat("a", 100_000) + "]\nx = [" + strings.Repeat("{c=1},", 100) + "]", nil},
		"ordinary-tables":  {"a = 1\n" + numbered("[projects.\"/home/user/work/some/project/of/mine/%d\"]\ntrust_level = \"trusted\"\n", 5000), int64(1)},
		"ordinary-inline":  {"a = 1\nb = {" + numbered("SOME_NAME_%d = \"a value of it\", ", 2000) + "c = 1}", int64(1)},
		"ordinary-array":   {"a = 1\n[b]\nc = [" + strings.Repeat("{x = 1.5, y = [1, 2]}, ", 5000) + "]", int64(1)},
		"no-toml":          {"a = ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := readTOML(c.text)
			if config["a"] != c.want || (err == nil) != (c.want != nil) {
				t.Errorf("%.100v, %v", config["a"], err)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// numbered repeats a text with a number in it.
func numbered(text string, times int) string {
	var all strings.Builder
	for i := range times {
		fmt.Fprintf(&all, text, i)
	}
	return all.String()
}

// FuzzMeasureTOML: what the decoder makes of a text is no deeper than was measured, once for
// the header and once for what stands below it.
func FuzzMeasureTOML(f *testing.F) {
	for _, text := range []string{
		"a = [[1], {b = [2]}]", "[a.b.c]\nd.e = {f.g = 1}", "[[a]]\n[[a.b]]", `a = """b"""""`, "a = '''b'''''", `a."b.c".'d' = 1.5`,
		"a = \"\\\"[[\" # [[\nb = []", "a = [ # ]\n[\n] ]", "'''''' = 1", "a={\nb=1,\n}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		measured := measureTOML(text)
		config, err := readTOML(text)
		if err != nil {
			return
		}
		if deep := depthOf(config); deep > 2*(measured.deepest+1) {
			t.Errorf("%q is %d deep, measured as %d", text, deep, measured.deepest)
		}
		meta, err := toml.Decode(text, &config)
		if err != nil {
			t.Fatal(err)
		}
		names := 0
		for _, key := range meta.Keys() {
			names += len(strings.Join(key, ""))
		}
		if names > measured.names {
			t.Errorf("the names of %q have %d bytes, measured as %d", text, names, measured.names)
		}
	})
}

// depthOf is how many tables and arrays are in one another.
func depthOf(value any) (deep int) {
	switch value := value.(type) {
	case map[string]any:
		for _, below := range value {
			deep = max(deep, depthOf(below)+1)
		}
	case []map[string]any:
		for _, below := range value {
			deep = max(deep, depthOf(below)+1)
		}
	case []any:
		for _, below := range value {
			deep = max(deep, depthOf(below)+1)
		}
	}
	return deep
}
