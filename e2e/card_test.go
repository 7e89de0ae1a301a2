package e2e

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExtendedCard03 asks the program for the extended card in both bindings of
// 0.3. The card does not promise one; who asks all the same gets the public one.
func TestExtendedCard03(t *testing.T) {
	t.Parallel()
	p := start(t)
	public := p.getJSON("/.well-known/agent-card.json")
	if name, _ := at(public, "name").(string); name == "" || at(public, "protocolVersion") != "0.3" {
		t.Fatalf("the public card is %v", public)
	}
	if diff := cmp.Diff(any(public), any(p.getJSON("/v1/card"))); diff != "" {
		t.Errorf("GET /v1/card, public first:\n%s", diff)
	}
	answer := p.call("agent/getAuthenticatedExtendedCard", nil)
	if diff := cmp.Diff(any(public), at(answer, "result")); diff != "" {
		t.Errorf("agent/getAuthenticatedExtendedCard, public first:\n%s\n%v", diff, answer["error"])
	}
}

// getJSON returns the object at a path.
func (p *program) getJSON(path string) object {
	p.t.Helper()
	var v object
	if body := p.shown(path); json.Unmarshal([]byte(body), &v) != nil {
		p.t.Fatalf("GET %s: %s", path, body)
	}
	return v
}
