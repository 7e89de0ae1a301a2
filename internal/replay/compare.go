package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// mask stands in a record where a secret stood, and for anything.
const mask = "***"

// differences says in what a message differs from the one in the record, as paths
// with both values; empty if it does not.
func differences(recorded, now json.RawMessage) []string {
	a, b := decoded(recorded), decoded(now)
	var found []string
	compare("", a, b, &found)
	slices.Sort(found)
	return found
}

// withoutClock leaves out of an answer what the time is.
func withoutClock(result json.RawMessage) json.RawMessage {
	if bytes.Contains(result, []byte(`"currentTimeAt"`)) {
		return nil
	}
	return result
}

func decoded(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v) // it was decoded before
	return v
}

// mostDifferences are told of one message.
const mostDifferences = 5

func compare(path string, a, b any, found *[]string) {
	if len(*found) >= mostDifferences {
		return
	}
	x, xIs := a.(map[string]any)
	y, yIs := b.(map[string]any)
	switch {
	case xIs && yIs:
		for name := range merged(x, y) {
			compare(strings.TrimPrefix(path+"."+name, "."), x[name], y[name], found)
		}
		return
	case same(a, b):
		return
	}
	p, pIs := a.([]any)
	q, qIs := b.([]any)
	if pIs && qIs && len(p) == len(q) {
		for i := range p {
			compare(fmt.Sprintf("%s[%d]", path, i), p[i], q[i], found)
		}
		return
	}
	*found = append(*found, fmt.Sprintf("%s: recorded %s, now %s", path, short(a), short(b)))
}

func merged(a, b map[string]any) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// same compares two values that are not both objects.
func same(a, b any) bool {
	if s, ok := a.(string); ok && strings.Contains(s, mask) {
		t, ok := b.(string)
		return ok && fits(s, t)
	}
	return reflect.DeepEqual(a, b)
}

// fits reports whether a text is that of the record, which lacks its secrets.
func fits(recorded, now string) bool {
	parts := strings.Split(recorded, mask)
	if len(parts) == 1 {
		return recorded == now
	}
	rest, ok := strings.CutPrefix(now, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

func short(v any) string {
	if v == nil {
		return "nothing"
	}
	return brief.Line(string(encode(v)), 120)
}
