package codex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// tell hands the executor what codex says of a thread that is not ours.
func tell(e *Driver, method, threadID, rest string) {
	e.global(appserver.Notification{Method: method, ThreadID: threadID, Params: []byte(`{"threadId":"` + threadID + `",` + rest + `}`)})
}

const agentTurn = `"turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}`

func patchOf(itemID, path, diff string) string {
	return fmt.Sprintf(`"turnId":"s","item":{"type":"fileChange","id":%q,"status":"inProgress","changes":[{"path":%q,"kind":{"type":"add"},"diff":%q}]}`, itemID, path, diff)
}

// TestChangesOfAgents are known by thread and item, from the item's start to its end, or to
// that of its turn.
func TestChangesOfAgents(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	known := func(threadID, itemID, want string) {
		t.Helper()
		got := ""
		for _, c := range e.changesOfAgent(threadID, itemID) {
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
	t.Parallel()
	e := New(Config{})
	tell(e, appserver.NoteTurnStarted, "one", agentTurn)
	tell(e, appserver.NoteTurnStarted, "two", agentTurn)
	for i := range mostAgentChanges + 1 {
		tell(e, appserver.NoteItemStarted, "one", patchOf(fmt.Sprint(i), "/one", "+"))
	}
	if e.changesOfAgent("one", fmt.Sprint(mostAgentChanges-1)) == nil || e.changesOfAgent("one", fmt.Sprint(mostAgentChanges)) != nil {
		t.Errorf("%d patches are known", len(e.agents.at["one"].changes))
	}
	large := strings.Repeat("x", mostAgentBytes*2/3)
	for _, item := range []string{"a", "b"} {
		tell(e, appserver.NoteItemStarted, "two", patchOf(item, "/two", large))
	}
	if e.changesOfAgent("two", "a") == nil || e.changesOfAgent("two", "b") != nil || e.agents.bytes > mostAgentBytes {
		t.Errorf("%d bytes are kept", e.agents.bytes)
	}
	tell(e, appserver.NoteTurnStarted, "two", agentTurn) // the one before has ended unheard
	tell(e, appserver.NoteItemStarted, "two", patchOf("b", "/two", large))
	if e.changesOfAgent("two", "a") != nil || e.changesOfAgent("two", "b") == nil {
		t.Error("what has ended takes the room of what runs")
	}
	e.childEnded(nil)
	if e.agents.bytes != 0 || len(e.agents.at) != 0 {
		t.Errorf("after its codex there are %d bytes", e.agents.bytes)
	}
}

// TestChangesOfAnotherThread are not shown for those that are asked about, though the ids of
// their items are the same.
func TestChangesOfAnotherThread(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	turn := &turn{d: e, c: &conversation{threadID: "thread"}, record: items.NewRecord()}
	var own appserver.FileChange
	own.Path = "/own"
	turn.record.Changes["i"] = []appserver.FileChange{own}
	tell(e, appserver.NoteTurnStarted, "sub", agentTurn)
	tell(e, appserver.NoteItemStarted, "sub", patchOf("i", "/sub", "+"))
	for threadID, want := range map[string]string{"thread": "/own", "sub": "/sub", "other": ""} {
		got := ""
		for _, c := range turn.view(&question{req: &appserver.Request{ThreadID: threadID}}).Changes("i") {
			got += c.Path
		}
		if got != want {
			t.Errorf("%s asks about %q, want %q", threadID, got, want)
		}
	}
}
