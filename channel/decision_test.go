package channel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestWhatARowSaysBeside is kept of the user's and the platform's own, and of no agent's.
func TestWhatARowSaysBeside(t *testing.T) {
	body := json.RawMessage(`{"params":{"message":{"parts":[{"kind":"text","text":"x"}]},"metadata":{"request_id":"r","decision":"approved"}}}`)
	for name, c := range map[string]struct {
		row  platform.Row
		kept bool
	}{
		"user":           {platform.Row{ID: "1", Method: "message/send", RequestBody: body}, true},
		"unknown-method": {platform.Row{ID: "1", Method: "request_decided", RequestBody: body}, true},
		"peer":           {platform.Row{ID: "1", Method: "message/send", Source: "0f8c7a3e-1d2b-4c5d-8e9f-000000000001", RequestBody: body}, false},
		"unknown-peer":   {platform.Row{ID: "1", Method: "request_decided", Source: "0f8c7a3e-1d2b-4c5d-8e9f-000000000001", RequestBody: body}, false},
		"delegation":     {platform.Row{ID: "1", Method: "delegate_result", RequestBody: body}, false},
		"other-words":    {platform.Row{ID: "1", Method: "message/send", RequestBody: json.RawMessage(`{"text":"x"}`)}, false},
		"long":           {platform.Row{ID: "1", Method: "message/send", RequestBody: json.RawMessage(`{"request":"` + strings.Repeat("x", 20<<10) + `"}`)}, false},
	} {
		row, _ := names{workspace: "us"}.classify(c.row)
		e, err := decodeEntry(row.Body)
		if err != nil || (len(e.Beside) > 0) != c.kept {
			t.Errorf("%s: beside %s, %v", name, e.Beside, err)
		}
	}
}
