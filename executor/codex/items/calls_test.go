package items

import (
	"encoding/json"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// TestCallsAreToldApart by every digit, and by nothing that does not subject.
func TestCallsAreToldApart(t *testing.T) {
	t.Parallel()
	calls := Calls{}
	item := appserver.Item{ID: "i", Type: appserver.ItemMcpToolCall, Server: "s", Tool: "t", Arguments: json.RawMessage(`{"b": 9007199254740993, "a": "\u00e9"}`)}
	calls.Started(item)
	for arguments, want := range map[string]bool{
		`{"a":"é","b":9007199254740993}`: true,
		`{"a":"é","b":9007199254740992}`: false,
		``:                               false,
	} {
		if got := calls.Has(ask.CallOf("s", "t", json.RawMessage(arguments))); got != want {
			t.Errorf("%s: it is known: %t", arguments, got)
		}
	}
	for _, none := range []string{"", "null"} {
		item.Arguments = json.RawMessage(none)
		calls.Started(item)
		if !calls.Has(ask.CallOf("s", "t", nil)) || !calls.Has(ask.CallOf("s", "t", json.RawMessage("null"))) {
			t.Errorf("a call with %q is not known", none)
		}
	}
}
