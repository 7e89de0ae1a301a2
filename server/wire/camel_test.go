package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Each level is decoded anew: without a bound, depth times size is the price.
func TestCamelKeysStopsWhereTheProtocolDoes(t *testing.T) {
	deep := `{"a_a":` + strings.Repeat(`[`, camelDepth) + `{"b_b":1}` + strings.Repeat(`]`, camelDepth) + `}`
	got := camelKeys(json.RawMessage(deep))
	if want := strings.Replace(deep, "a_a", "aA", 1); string(got) != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func TestCamelNameLeavesOddNamesAlone(t *testing.T) {
	for in, want := range map[string]string{"task_id": "taskId", "a": "a", "_a": "_a", "a_": "a_", "a__b": "a__b", "a_b_c": "aBC"} {
		if got := camelName(in); got != want {
			t.Errorf("camelName(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLongNames: names that are longer than any of the protocol are left as they are.
func TestLongNames(t *testing.T) {
	long := `{"` + strings.Repeat("a_", 50) + `a":1,"message_id":2}`
	if got := camelKeys(json.RawMessage(long)); !bytes.Contains(got, []byte(long[1:104])) || !bytes.Contains(got, []byte(`"messageId":2`)) {
		t.Errorf("%s is %s", long, got)
	}
}
