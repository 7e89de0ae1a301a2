package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
)

// TestCapabilities holds what depends on how the suite's system is started.
func TestCapabilities(t *testing.T) {
	for _, r := range capabilities() {
		for _, binding := range []string{jsonrpc, httpJSON} {
			t.Run(r.id+"/"+binding, func(t *testing.T) { r.test(t, client{binding: binding}) })
		}
	}
}

// capabilities are requirements whose tests start a system of their own.
func capabilities() []requirement {
	return []requirement{
		{"CORE-CAP-004", func(t *testing.T, c client) {
			const uri = "urn:a2a:tck:required-extension"
			c.url = start(t, options{extension: uri})
			hi := object{"message": message("tck-complete-task")}
			refused := c.call(t, "SendMessage", hi)
			c.wantError(t, refused, -32008, 400, "EXTENSION_SUPPORT_REQUIRED")
			if got := str(refused.info, "metadata", "extension"); got != uri {
				t.Errorf("the error names %q", got)
			}
			v0{c.url}.call(t, "message/send", object{"message": v0Message()}).refused(t, -32008)
			_, r := c.stream(t, "SendStreamingMessage", hi)
			c.wantError(t, r, -32008, 400, "EXTENSION_SUPPORT_REQUIRED")
			for _, name := range []string{"A2a-Extensions", "X-A2a-Extensions"} {
				c.header = http.Header{name: {"urn:other, " + uri}}
				c.wantState(t, c.send(t, "tck-complete-task"), "COMPLETED")
			}
			if at(card(t, c.url), "capabilities", "extensions", 0, "required") != true {
				t.Error("the card does not say so")
			}
		}},
		{"CORE-CAP-002", func(t *testing.T, c client) {
			c.url = start(t, options{mute: true})
			task := str(c.send(t, "tck-input-required"), "id")
			_, r := c.stream(t, "SendStreamingMessage", object{"message": message("tck-cap-stream")})
			c.wantError(t, r, -32004, 400, "UNSUPPORTED_OPERATION")
			_, r = c.stream(t, "SubscribeToTask", object{"id": task})
			c.wantError(t, r, -32004, 400, "UNSUPPORTED_OPERATION")
			if got := kinds(t, v0{c.url}.stream(t, "message/stream", object{"message": v0Message()})); got != "-32004" {
				t.Errorf("0.3: %s", got)
			}
		}},
	}
}

// TestBindingsAreEquivalent: the same calls have the same answers, but for ids
// and times.
func TestBindingsAreEquivalent(t *testing.T) {
	url := start(t, options{})
	odd := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|tck-[a-z-]+-[0-9a-f]+`)
	plain := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return odd.ReplaceAllString(string(b), "*")
	}
	for _, prefix := range []string{"tck-complete-task", "tck-artifact-file", "tck-input-required", "tck-reject-task"} {
		a, b := client{url: url, binding: jsonrpc}, client{url: url, binding: httpJSON}
		if x, y := plain(a.send(t, prefix)), plain(b.send(t, prefix)); x != y {
			t.Errorf("%s:\n%s\n%s", prefix, x, y)
		}
	}
}
