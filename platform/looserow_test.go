package platform

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestLongIDs are none: rows are kept by their ids for a month, and a sender's is its name.
func TestLongIDs(t *testing.T) {
	longtest.Mark(t)
	for n, id := range map[int]string{MaxID: strings.Repeat("x", MaxID), MaxID + 1: "", 1 << 20: ""} {
		name := cmp.Or(id, noName)
		for _, letter := range []string{"x", `\u0078`} {
			long := `"` + strings.Repeat(letter, n) + `"`
			var r looseRow
			if err := json.Unmarshal([]byte(`{"id":`+long+`,"source_id":`+long+`,"target_id":`+long+`}`), &r); err != nil {
				t.Fatal(err)
			}
			if r.ID != id || r.Source != name || r.Target != id {
				t.Errorf("%d times %s: ids of %d, %d and %d bytes", n, letter, len(r.ID), len(r.Source), len(r.Target))
			}
		}
	}
	var r looseRow
	if err := json.Unmarshal([]byte(`{"source_id":""}`), &r); err != nil || r.Source != "" {
		t.Errorf("the user is %q, %v", r.Source, err)
	}
}
