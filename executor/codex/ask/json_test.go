package ask

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
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
		p := poseOf(t, askServer, `{"serverName":"s","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"pay","tool_params":`+arguments+`}}`)
		if asked := !strings.Contains(p.text, arguments); asked == (arguments != "null") {
			t.Errorf("%s: the text is %q", arguments, p.text)
		}
		if got := fmt.Sprint(p.data["arguments"]); got != data {
			t.Errorf("%s: the data are %s, want %s", arguments, got, data)
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
