package executor

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// TestQuestionsHaveEveryDigit: what is allowed is what is called, also where a number has more digits
// than most readers of JSON keep.
func TestQuestionsHaveEveryDigit(t *testing.T) {
	t.Parallel()
	for arguments, data := range map[string]string{
		`{"account":1234567890123456789,"cmd":"a && b > c"}`: `{"account":1234567890123456789,"cmd":"a && b > c"}`,
		`{"list":[{"n":9007199254740993}]}`:                  `{"list":[{"n":9007199254740993}]}`,
		`{"n":1e400}`:                                        `{"n":1e400}`,
		`{"m":123456789012345,"n":-12.5}`:                    `map[m:1.23456789012345e+14 n:-12.5]`,
		`{"n":1000000000000000000}`:                          `{"n":1000000000000000000}`,
		`null`:                                               `<nil>`,
	} {
		p, _ := poseOf(t, askServer, `{"serverName":"s","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"pay","tool_params":`+arguments+`}}`)
		if asked := !strings.Contains(p.text, arguments); asked == (arguments != "null") {
			t.Errorf("%s: the text is %q", arguments, p.text)
		}
		if got := fmt.Sprint(p.data["arguments"]); got != data {
			t.Errorf("%s: the data are %s, want %s", arguments, got, data)
		}
	}
}

// TestCallsAreToldApart by every digit, and by nothing that does not matter.
func TestCallsAreToldApart(t *testing.T) {
	t.Parallel()
	calls := toolCalls{}
	item := appserver.Item{ID: "i", Type: appserver.ItemMcpToolCall, Server: "s", Tool: "t", Arguments: json.RawMessage(`{"b": 9007199254740993, "a": "\u00e9"}`)}
	calls.started(item)
	for arguments, want := range map[string]bool{
		`{"a":"é","b":9007199254740993}`: true,
		`{"a":"é","b":9007199254740992}`: false,
		``:                               false,
	} {
		if got := calls.has("s", "t", json.RawMessage(arguments)); got != want {
			t.Errorf("%s: it is known: %t", arguments, got)
		}
	}
	for _, none := range []string{"", "null"} {
		item.Arguments = json.RawMessage(none)
		calls.started(item)
		if !calls.has("s", "t", nil) || !calls.has("s", "t", json.RawMessage("null")) {
			t.Errorf("a call with %q is not known", none)
		}
	}
}

// TestLargeCallsAreNoValues: what is made of large arguments is little more than they are, and what is
// larger than is kept is declined.
func TestLargeCallsAreNoValues(t *testing.T) {
	large := func(name string, bytes int) json.RawMessage {
		return json.RawMessage(`{"serverName":"s","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t","` + name + `":[` +
			strings.Repeat(`{"a":0},`, bytes/8) + `0]}}`)
	}
	for _, name := range []string{"tool_params", "persist", "other"} {
		request := large(name, mostElicited/2)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := readElicitation(request); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; made > 4*uint64(len(request)) {
			t.Errorf("%s: %d bytes are made of %d", name, made, len(request))
		}
	}
	m, err := readElicitation(large("tool_params", mostElicited))
	if _, over := m.(overfull); !over || err != nil {
		t.Errorf("a larger one is %T, %v", m, err)
	}
}
