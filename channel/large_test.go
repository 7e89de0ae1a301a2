package channel

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestLargeRows: of a row that was too large to be read whole its sender is told so, unless
// there is nobody to tell, or what was left out is not his message.
func TestLargeRows(t *testing.T) {
	hello := request(`{"parts":[{"kind":"text","text":"hello"}]}`)
	body, response, given := []string{"request_body"}, []string{"response_body"}, []string{"workspace_id", "source_id", "method", "request_body"}
	for name, c := range map[string]struct {
		row               platform.Row
		kind, state, chat string
		refused           bool
		text              string
	}{
		"peers":             {platform.Row{Source: "p", Method: "message/send", Summary: "<<<", Cut: body}, kindPeer, store.InboxAccepted, "peer:p", true, ""},
		"users":             {platform.Row{Method: "message/send", Summary: "<<<", Cut: body}, kindCanvas, store.InboxAccepted, "canvas:us", true, ""},
		"of-many-files":     {platform.Row{Source: "p", Method: "message/send", RequestBody: hello, Cut: []string{"attachments"}}, kindPeer, store.InboxAccepted, "peer:p", true, ""},
		"large-name":        {platform.Row{Source: "p", Method: "message/send", RequestBody: hello, Cut: []string{"peer_role", "summary"}}, kindPeer, store.InboxAccepted, "peer:p", false, "hello"},
		"answered":          {platform.Row{Source: "p", Method: "message/send", RequestBody: hello, Cut: response}, kindOwn, store.InboxDrained, "canvas:us", false, ""},
		"large-and-so":      {platform.Row{Source: "p", Method: "message/send", Cut: append(response, body...)}, kindOwn, store.InboxDrained, "canvas:us", false, ""},
		"given-up":          {platform.Row{Source: " ", Cut: given}, kindPeer, store.InboxDrained, "canvas:us", false, ""},
		"end-of-delegation": {platform.Row{Source: "us", Method: "delegate_result", Target: "p", Cut: response}, kindDelegation, store.InboxAccepted, "canvas:us", false, "left out here.)"},
		"unknown":           {platform.Row{Source: "p", Method: "broadcast", Summary: "<<<", Cut: body}, kindUnknown, store.InboxAccepted, "peer:p/unknown", true, ""},
		"upload":            {platform.Row{Method: "chat_upload_receive", Cut: body}, kindUpload, store.InboxDrained, "canvas:us", false, ""},
		"our-note":          {platform.Row{Method: "notify", Cut: body}, kindOwn, store.InboxDrained, "canvas:us", false, ""},
	} {
		c.row.ID = "r1"
		row, _ := names{workspace: "us"}.classify(c.row)
		if row.Kind != c.kind || row.State != c.state || row.Chat != c.chat || len(row.Body) > 2000 {
			t.Errorf("%s: %+v", name, row)
		}
		if row.State != store.InboxAccepted {
			continue
		}
		e, err := decodeEntry(row.Body)
		if err != nil || (e.Refused == tooLarge) != c.refused || !strings.HasSuffix(e.Text, c.text) || c.refused && e.Text != "" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
