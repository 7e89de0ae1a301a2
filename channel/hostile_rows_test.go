package channel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestForeignRows are those that only look like ones of the inbox.
func TestForeignRows(t *testing.T) {
	hello := request(`{"parts":[{"kind":"text","text":"hello"}]}`)
	for name, c := range map[string]struct {
		row               platform.Row
		kind, state, chat string
	}{
		"another-workspace": {platform.Row{Workspace: "them", Method: "message/send", RequestBody: hello}, kindUnknown, store.InboxDrained, "canvas:us"},
		"written-otherwise": {platform.Row{Workspace: "US", Method: "message/send", RequestBody: hello}, kindCanvas, store.InboxAccepted, "canvas:us"},
		"a-tool-call":       {platform.Row{Type: "agent_log", Method: "mcp__molecule__list_peers"}, kindOwn, store.InboxDrained, "canvas:us"},
		"peers-own-result":  {platform.Row{Method: "delegate_result", Source: "p", RequestBody: hello}, kindPeer, store.InboxAccepted, "peer:p"},
		"nobodys-result":    {platform.Row{Method: "delegate_result", Source: " ", RequestBody: hello}, kindPeer, store.InboxDrained, "canvas:us"},
		"peers-upload":      {platform.Row{ID: "a", Method: "chat_upload_receive", Source: "p", RequestBody: json.RawMessage(`{"uri":"platform-pending:us/1"}`)}, kindUnknown, store.InboxAccepted, "peer:p/unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			row, _ := names{workspace: "us"}.classify(c.row)
			if row.Kind != c.kind || row.State != c.state || row.Chat != c.chat {
				t.Errorf("%+v", row)
			}
		})
	}
}

// TestOddContent: what is of the wrong type does not hide what is said beside it.
func TestOddContent(t *testing.T) {
	for name, message := range map[string]string{
		"metadata": `{"metadata":[1],"parts":[{"kind":"text","text":"hello"}]}`,
		"name":     `{"name":{"first":"x"},"size":"1","parts":[{"kind":"text","text":"hello"}]}`,
		"flat":     `{"text":["x"],"parts":[{"kind":"text","text":"hello"}]}`,
		"part":     `{"parts":[{"kind":"text","text":"hello","filename":3,"url":null}]}`,
		"bytes":    `{"parts":[{"kind":"file","file":{"bytes":"***"}},{"kind":"text","text":"hello"},7,null]}`,
	} {
		if e := read(platform.Row{RequestBody: request(message), Summary: "cut"}); e.Text != "hello" || len(e.Files) != 0 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	marked := platform.Row{Method: "message/send", Source: "p", RequestBody: json.RawMessage(`{"params":{"metadata":{"molecule_channel_reply":true},"message":{"metadata":"x","kind":2,"text":7}}}`)}
	if row, _ := (names{workspace: "us"}).classify(marked); row.Mute != muteMarked {
		t.Errorf("the mark is not seen: %+v", row)
	}
}

// TestBodiesInBodies: they are read as deep as messages lie, and cost no more than that,
// however many a peer puts into each other.
func TestBodiesInBodies(t *testing.T) {
	for depth, want := range map[int]string{0: "hello", mostLayers: "hello", mostLayers + 1: "cut", 3000: "cut"} {
		deep := strings.Repeat(`{"params":`, depth) + `{"text":"hello"}` + strings.Repeat("}", depth)
		if e := read(platform.Row{RequestBody: json.RawMessage(deep), Summary: "cut"}); e.Text != want {
			t.Errorf("%d deep: %+v", depth, e)
		}
	}
	beside := `{"params":[{}],"message":{"params":7,"message":null,"text":"hello"}}`
	if e := read(platform.Row{RequestBody: json.RawMessage(beside)}); e.Text != "hello" {
		t.Errorf("beside what is no body: %+v", e)
	}
	tree := `{}`
	for range 14 {
		tree = `{"params":` + tree + `,"message":` + tree + `}`
	}
	for _, depth := range []int{0, 60} {
		text := json.RawMessage(strings.Repeat(`{"params":`, depth) + tree + strings.Repeat("}", depth))
		row := platform.Row{ID: "r", Method: "message/send", Source: "p", RequestBody: text}
		if n := len(bodyOf(text).layers()); n > 2<<mostLayers {
			t.Errorf("%d layers", n)
		}
		if n := testing.AllocsPerRun(1, func() { names{workspace: "us"}.classify(row) }); n > 500 {
			t.Errorf("%v allocations", n)
		}
	}
}

// read is what a row says.
func read(r platform.Row) entry { return content(r, bodyOf(r.RequestBody).layers()) }

// TestOddNames: a peer cannot call itself so that its conversation is that of another.
func TestOddNames(t *testing.T) {
	several := names{"us", true}
	seen := map[string]bool{}
	for _, id := range []string{"p@them/", "p@them", "p/aside/x", "command:x/", "p", strings.Repeat("p", 4000), "p\x1b[2J", ""} {
		for _, name := range []string{several.peer(id), several.unknown(id)} {
			if got := WorkspaceOf(name, ""); got != "us" || seen[name] || len(name) > 200 || strings.ContainsAny(strings.TrimSuffix(name, "/unknown"), "/\x1b") {
				t.Errorf("%q is a conversation of %q", name, got)
			}
			seen[name] = true
		}
	}
	if got := (names{workspace: "us"}).peer("7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11"); got != "peer:7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11" {
		t.Errorf("%q", got)
	}
}

// TestDrainedRowsKeepNothing: a row that is given up as it comes is kept for a month, and
// what it says is not.
func TestDrainedRowsKeepNothing(t *testing.T) {
	n := names{workspace: "us"}
	row, _ := n.classify(platform.Row{ID: "a", Method: "message/send", RequestBody: request(`{"parts":[{"kind":"text","text":"hello"}]}`)})
	if row, _ := n.drain(row, noteAcked); len(row.Body) != 0 {
		t.Errorf("%s", row.Body)
	}
}
