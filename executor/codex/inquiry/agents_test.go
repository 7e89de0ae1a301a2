package inquiry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// tell hands the desk what codex says of a thread that is not ours.
func tell(e *Desk, method, threadID, rest string) {
	note := appserver.Notification{Method: method, ThreadID: threadID, Params: []byte(`{"threadId":"` + threadID + `",` + rest + `}`)}
	switch method {
	case appserver.NoteTurnStarted, appserver.NoteTurnCompleted:
		e.AgentsTurn(note)
	default:
		e.AgentsItem(note)
	}
}

const agentTurn = `"turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}`

func patchOf(itemID, path, diff string) string {
	return fmt.Sprintf(`"turnId":"s","item":{"type":"fileChange","id":%q,"status":"inProgress","changes":[{"path":%q,"kind":{"type":"add"},"diff":%q}]}`, itemID, path, diff)
}

// TestChangesOfAgents are known by thread and item, from the item's start to its end, or to
// that of its turn.
func TestChangesOfAgents(t *testing.T) {
	t.Parallel()
	e := NewDesk(Bounds{})
	known := func(threadID, itemID, want string) {
		t.Helper()
		got := ""
		for _, c := range e.ChangesOfAgent(threadID, itemID) {
			got += c.Path
		}
		if got != want {
			t.Errorf("%s of %s is %q, want %q", itemID, threadID, got, want)
		}
	}
	tell(e, appserver.NoteTurnStarted, "one", agentTurn)
	tell(e, appserver.NoteTurnStarted, "two", agentTurn)
	tell(e, appserver.NoteItemStarted, "one", patchOf("i", "/one", "+"))
	tell(e, appserver.NoteItemStarted, "two", patchOf("i", "/two", "+"))
	tell(e, appserver.NoteItemStarted, "two", patchOf("j", "/j", "+"))
	tell(e, appserver.NoteItemStarted, "other", patchOf("i", "/other", "+")) // no agent of ours
	known("one", "i", "/one")
	known("two", "i", "/two")
	known("other", "i", "")
	tell(e, appserver.NoteItemStarted, "one", patchOf("i", "/again", "+"))
	known("one", "i", "/again")
	tell(e, appserver.NoteItemCompleted, "one", patchOf("i", "/again", "+"))
	known("one", "i", "")
	known("two", "i", "/two")
	tell(e, appserver.NoteTurnCompleted, "two", agentTurn)
	known("two", "i", "")
	if e.agents.bytes != 0 || len(e.agents.at) != 1 {
		t.Errorf("left are %+v", e.agents)
	}
}

// TestBoundsOfChangesOfAgents: what has no room is not known, and has room when the others
// are done.
func TestBoundsOfChangesOfAgents(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := NewDesk(Bounds{})
	tell(e, appserver.NoteTurnStarted, "one", agentTurn)
	tell(e, appserver.NoteTurnStarted, "two", agentTurn)
	for i := range mostAgentChanges + 1 {
		tell(e, appserver.NoteItemStarted, "one", patchOf(fmt.Sprint(i), "/one", "+"))
	}
	if e.ChangesOfAgent("one", fmt.Sprint(mostAgentChanges-1)) == nil || e.ChangesOfAgent("one", fmt.Sprint(mostAgentChanges)) != nil {
		t.Errorf("%d patches are known", len(e.agents.at["one"].changes))
	}
	large := strings.Repeat("x", mostAgentBytes*2/3)
	for _, item := range []string{"a", "b"} {
		tell(e, appserver.NoteItemStarted, "two", patchOf(item, "/two", large))
	}
	if e.ChangesOfAgent("two", "a") == nil || e.ChangesOfAgent("two", "b") != nil || e.agents.bytes > mostAgentBytes {
		t.Errorf("%d bytes are kept", e.agents.bytes)
	}
	tell(e, appserver.NoteTurnStarted, "two", agentTurn) // the one before has ended unheard
	tell(e, appserver.NoteItemStarted, "two", patchOf("b", "/two", large))
	if e.ChangesOfAgent("two", "a") != nil || e.ChangesOfAgent("two", "b") == nil {
		t.Error("what has ended takes the room of what runs")
	}
	e.ForgetAgents()
	if e.agents.bytes != 0 || len(e.agents.at) != 0 {
		t.Errorf("after its codex there are %d bytes", e.agents.bytes)
	}
}
