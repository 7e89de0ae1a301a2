package progress

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestCalls has how soon the first was answered, and the sum of all.
func TestCalls(t *testing.T) {
	var c Calls
	if got := c.Data(); got != nil {
		t.Errorf("of none: %v", got)
	}
	c.Add(agent.ModelCalled{
		Socket: true, Connect: 60400 * time.Microsecond, Sent: time.Millisecond, First: 420 * time.Millisecond, Took: 1420 * time.Millisecond,
		Tokens: 50, Status: 200,
	})
	c.Add(agent.ModelCalled{First: 100 * time.Millisecond, Took: 2100 * time.Millisecond, Tokens: 133, Status: 200})
	c.Add(agent.ModelCalled{First: time.Second, Took: 9 * time.Second, Status: 200}) // of whose tokens is not said
	c.Add(agent.ModelCalled{Took: time.Second, Status: 503})
	want := map[string]any{
		"count": 4.0, "failed": 1.0, "transport": "websocket", "seconds": 13.52, "connectSeconds": 0.06, "sentSeconds": 0.001,
		"firstByteSeconds": 0.42, "outputTokens": 183.0, "tokensPerSecond": 61.0,
	}
	if diff := cmp.Diff(want, c.Data()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCallsOfWhichLittleIsKnown say nothing of the rest.
func TestCallsOfWhichLittleIsKnown(t *testing.T) {
	var c Calls
	c.Add(agent.ModelCalled{})
	if diff := cmp.Diff(map[string]any{"count": 1.0, "failed": 1.0, "transport": "http", "seconds": 0.0}, c.Data()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
