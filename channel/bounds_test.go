package channel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// list is n elements of a JSON list, each made of its number.
func list(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// TestBounds: of a row that has more than a message may there is kept why it is refused,
// in few words, and of any other one all.
func TestBounds(t *testing.T) {
	text := func(n int) platform.Row {
		return platform.Row{Source: "p", RequestBody: request(`{"parts":[{"text":"` + strings.Repeat("ж", n) + `"}]}`)}
	}
	parts := func(n int, format string) platform.Row {
		return platform.Row{Source: "p", RequestBody: request(`{"parts":` + list(n, format) + `}`)}
	}
	attached := func(n int) platform.Row {
		r := parts(mostParts/2, `{"file":{"uri":"workspace:/%d"}}`)
		for i := range n { // half of them are those of the parts
			r.Attachments = append(r.Attachments, platform.RowAttachment{URI: fmt.Sprintf("workspace:/%d", i)})
		}
		return r
	}
	for name, c := range map[string]struct {
		row     platform.Row
		refused string
	}{
		"text":             {text(mostText), ""},
		"long-text":        {text(mostText + 1), "the message has 1048577 characters, and the agent takes at most 1048576; put the text in a file where the agent works, and name the file"},
		"long-summary":     {platform.Row{Summary: strings.Repeat("x", 2*mostText)}, "the message has 2097152 characters"},
		"parts":            {parts(mostParts, `{"text":"%d"}`), ""},
		"many-parts":       {parts(mostParts+1, `{"text":"%d"}`), "the message has more than 1000 parts; put what belongs together into one"},
		"many-of-no-kind":  {parts(20_000, `%d`), "the message has more than 1000 parts"},
		"files":            {parts(mostParts, `{"file":{"uri":"workspace:/%d"}}`), ""},
		"many-files":       {parts(20_000, `{"file":{"uri":"workspace:/%d"}}`), "the message has more than 1000 parts"},
		"attachments":      {attached(mostParts), ""},
		"many-attachments": {attached(20_000), "the message has more than 1000 parts"},
	} {
		row, _ := names{workspace: "us"}.classify(c.row)
		e, err := decodeEntry(row.Body)
		if err != nil || (e.Refused == "") != (c.refused == "") || !strings.HasPrefix(e.Refused, c.refused) || c.refused != "" && len(row.Body) > 300 {
			t.Errorf("%s: %d bytes are kept, and it is refused with %q, %v", name, len(row.Body), e.Refused, err)
		}
		if c.refused == "" && max(len(e.Text), len(e.Files)) < mostParts {
			t.Errorf("%s: there are %d bytes and %d files", name, len(e.Text), len(e.Files))
		}
		if row.Kind == kindPeer && (row.State != store.InboxAccepted || row.Peer != "p") {
			t.Errorf("%s: it is not answered: %s, %q", name, row.State, row.Peer)
		}
	}
}

// TestLongQuotes: of what an agent says in a row that is no message of its own the
// beginning is told, between the marks, whatever its parts, its files or its name are.
func TestLongQuotes(t *testing.T) {
	long := strings.Repeat("ж", mostText/2)
	files := request(`{"parts":` + list(mostParts, `{"file":{"uri":"workspace:/%d/`+strings.Repeat("x", 2000)+`"}}`) + `}`)
	for name, r := range map[string]platform.Row{
		"result":  {Method: "delegate_result", Source: "us", Target: "p", PeerName: long, RequestBody: request(`{"parts":[{"text":"` + long + `"}]}`)},
		"failure": {Method: "delegate_result", Source: "us", Target: "p", Status: "error", ErrorDetail: long},
		"files":   {Method: "delegate_result", Source: "us", Target: "p", RequestBody: files},
		"parts":   {Method: "delegate_result", Source: "us", Target: "p", RequestBody: request(`{"parts":` + list(20_000, `{"text":"%d"}`) + `}`)},
		"strange": {ID: "a1", Method: "broadcast", Summary: long},
	} {
		row, _ := names{workspace: "us"}.classify(r)
		e, err := decodeEntry(row.Body)
		if words := peerwords.Within(e.Text); err != nil || e.Refused != "" || len(words) < 2000 || len(words) > mostQuoted || len(e.Text) > len(words)+500 {
			t.Errorf("%s: %d bytes of %d are the agent's; it is refused with %q, %v", name, len(words), len(e.Text), e.Refused, err)
		}
		if !strings.HasSuffix(e.Text, "]\n\n(There was more of it, which is left out here.)") {
			t.Errorf("%s ends with %q", name, e.Text[len(e.Text)-100:])
		}
	}
}
