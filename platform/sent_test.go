package platform_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// A statement is a section of testdata/sent.txt: what is sent in one kind of body.
type statement struct {
	body                  string // the path that it is sent to
	file, pointer, digest string // the schema that it was read from
	rows                  map[string]*row
}

// A row is one member of a body.
type row struct {
	is     string // the words for what it is, sorted
	wanted bool   // by the platform
	unsent bool   // known to the platform, and not sent
	seen   bool   // in a body
}

func (r *row) String() string {
	if r.wanted {
		return r.is + ", wanted"
	}
	return r.is
}

func statements(t *testing.T) []*statement {
	t.Helper()
	text, err := os.ReadFile("testdata/sent.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []*statement
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "body":
			all = append(all, &statement{body: strings.Join(words[1:], " "), rows: map[string]*row{}})
		case words[0] == "schema" && len(words) == 4:
			s := all[len(all)-1]
			s.file, s.pointer, s.digest = words[1], strings.TrimSuffix(words[2], "/"), words[3]
		default:
			all[len(all)-1].rows[words[0]] = readRow(words[1:])
		}
	}
	return all
}

func readRow(words []string) *row {
	r := &row{}
	switch words[len(words)-1] {
	case "!":
		r.wanted = true
	case "-":
		r.unsent = true
	}
	if r.wanted || r.unsent {
		words = words[:len(words)-1]
	}
	slices.Sort(words)
	r.is = strings.Join(words, " ")
	return r
}

// hold says what is wrong with a body.
func (s *statement) hold(body []byte) []string {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{err.Error()}
	}
	return s.members("", value)
}

func (s *statement) value(path string, value any) []string {
	r := s.rows[path]
	r.seen = true
	if !fits(r.is, value) {
		return []string{fmt.Sprintf("%s is %v, and not %s", path, value, r.is)}
	}
	if r.is == "any" {
		return nil
	}
	return s.members(path, value)
}

// members looks at what is in an object or in a list.
func (s *statement) members(path string, value any) (wrong []string) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			wrong = append(wrong, s.value(path+"[]", element)...)
		}
	case map[string]any:
		for name, member := range value {
			at := below(path, name)
			if s.rows[at] == nil {
				at = below(path, "*")
			}
			if r := s.rows[at]; r == nil || r.unsent {
				wrong = append(wrong, below(path, name)+" is in no row of what is sent")
				continue
			}
			wrong = append(wrong, s.value(at, member)...)
		}
		for at, r := range s.rows {
			name, direct := strings.CutPrefix(at, below(path, ""))
			if _, there := value[name]; r.wanted && direct && !there && !strings.ContainsAny(name, ".[") {
				wrong = append(wrong, at+" is wanted and not sent")
			}
		}
	}
	return wrong
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fits says whether a value is what the words of a row say.
func fits(is string, value any) bool {
	kind, least := strings.CutSuffix(is, "+")
	switch value := value.(type) {
	case string:
		return is == "any" || kind == "string" && (!least || value != "") || strings.Contains(is, fmt.Sprintf("%q", value))
	case []any:
		return is == "any" || kind == "list" && (!least || len(value) > 0)
	case map[string]any:
		return is == "any" || is == "object"
	case bool:
		return is == "any" || is == "boolean"
	case float64:
		return is == "any" || is == "number" || is == "integer" && value == math.Trunc(value)
	}
	return is == "any"
}

// TestBodiesAreAsStated holds what is sent to our own statement of it, and the statement to
// what is sent: it has no row that is in no body.
func TestBodiesAreAsStated(t *testing.T) {
	bodies := sentBodies(t)
	for _, s := range statements(t) {
		if len(bodies[s.body]) == 0 {
			t.Errorf("no body of %s was sent", s.body)
		}
		for _, body := range bodies[s.body] {
			for _, wrong := range s.hold(body) {
				t.Errorf("%s: %s: %s", s.body, wrong, body)
			}
		}
		for path, r := range s.rows {
			if !r.seen && !r.unsent {
				t.Errorf("%s: %s was in no body that was sent", s.body, path)
			}
		}
	}
}

// TestHold: a body that is not as stated is told from one that is.
func TestHold(t *testing.T) {
	s := &statement{rows: map[string]*row{
		"id": readRow([]string{"string+", "!"}), "mode": readRow([]string{`"push"`, `"poll"`}), "n": readRow([]string{"integer"}),
		"old": readRow([]string{"string", "-"}), "more": readRow([]string{"object"}), "more.*": readRow([]string{"boolean"}),
		"list": readRow([]string{"list+"}), "list[]": readRow([]string{"object"}), "list[].kind": readRow([]string{"string", "!"}),
	}}
	for body, want := range map[string]string{
		`{"id":"a","mode":"poll","n":2,"more":{"x":true},"list":[{"kind":"text"}]}`: "",
		`{}`:                         "id is wanted and not sent",
		`{"id":""}`:                  "id is , and not string+",
		`{"id":7}`:                   "id is 7, and not string+",
		`{"id":null}`:                "id is <nil>, and not string+",
		`{"id":"a","mode":"pull"}`:   `mode is pull, and not "poll" "push"`,
		`{"id":"a","n":2.5}`:         "n is 2.5, and not integer",
		`{"id":"a","new":1}`:         "new is in no row of what is sent",
		`{"id":"a","old":"b"}`:       "old is in no row of what is sent",
		`{"id":"a","more":{"x":1}}`:  "more.* is 1, and not boolean",
		`{"id":"a","list":[]}`:       "list is [], and not list+",
		`{"id":"a","list":[{}]}`:     "list[].kind is wanted and not sent",
		`{"id":"a","list":{"a":[]}}`: "list is map[a:[]], and not list+",
	} {
		if got := strings.Join(s.hold([]byte(body)), "; "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
