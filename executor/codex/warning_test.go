package codex

import (
	"encoding/json"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// TestWarning has what codex warns of be read as words, in each form that it has; another form is
// shown as it came.
func TestWarning(t *testing.T) {
	for params, want := range map[string]string{
		`{"summary":"no bubblewrap","details":null}`:      "no bubblewrap",
		`{"summary":"old setting","details":"use other"}`: "old setting use other",
		`{"message":"slow","threadId":"t"}`:               "slow",
		`{"text":"new"}`:                                  `{"text":"new"}`,
	} {
		if got := warning(appserver.Notification{Params: json.RawMessage(params)}); got != want {
			t.Errorf("%s: %q, want %q", params, got, want)
		}
	}
}
