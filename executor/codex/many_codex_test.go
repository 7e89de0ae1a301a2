package codex_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestMessagesOfATurnAreBounded: an endpoint that has more to say is not heard to its end,
// and what it has said until then is kept.
func TestMessagesOfATurnAreBounded(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	const most = 20
	model := modeltest.Start(t, func(m *fakemodel.Turn) {
		if m.LastUserText() != "go on" {
			fakemodel.Keywords(m)
			return
		}
		for m.Context().Err() == nil { // until codex goes away
			m.Say("x")
		}
	})
	e := onCodex(t, model, func(c *config) { c.MaxMessages = most })
	w := submit(t, e, "j1", "one", "go on")
	end := w.wait(t)
	wantEnd(t, end, agent.Failed, agent.FailModel)
	if end.Failure != nil && !strings.Contains(end.Failure.Message, "more than 20 messages in one turn") {
		t.Errorf("it says %q", end.Failure.Message)
	}
	if n := len(seen[agent.ItemCompleted](w)); n != most {
		t.Errorf("%d messages were shown, want %d", n, most)
	}
	wantAlive(t, e, "two")
}

// TestLongIDs: the ids of messages are the endpoint's, and are kept with all that is told of them.
func TestLongIDs(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(m *fakemodel.Turn) {
		if m.LastUserText() != "go on" {
			fakemodel.Keywords(m)
			return
		}
		m.CallAs(strings.Repeat("x", 20_000), "", "exec_command", `{"cmd":"true"}`)
	})
	e := onCodex(t, model, nil)
	w := submit(t, e, "j1", "one", "go on")
	end := w.wait(t)
	wantEnd(t, end, agent.Failed, agent.FailModel)
	if end.Failure != nil && !strings.Contains(end.Failure.Message, "ids of more than 16384 bytes") {
		t.Errorf("it says %q", end.Failure.Message)
	}
	if n := len(seen[agent.ItemStarted](w)); n != 0 {
		t.Errorf("%d items were shown", n)
	}
	wantAlive(t, e, "two")
}
