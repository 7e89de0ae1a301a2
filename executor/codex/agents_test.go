package codex

import (
	"fmt"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// tell hands the driver what codex says of a thread that is not ours.
func tell(e *Driver, method, threadID, rest string) {
	e.global(appserver.Notification{Method: method, ThreadID: threadID, Params: []byte(`{"threadId":"` + threadID + `",` + rest + `}`)})
}

const agentTurn = `"turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}`

func patchOf(itemID, path, diff string) string {
	return fmt.Sprintf(`"turnId":"s","item":{"type":"fileChange","id":%q,"status":"inProgress","changes":[{"path":%q,"kind":{"type":"add"},"diff":%q}]}`, itemID, path, diff)
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
		for _, c := range turn.view(&inquiry.Question{Req: &appserver.Request{ThreadID: threadID}}).Changes("i") {
			got += c.Path
		}
		if got != want {
			t.Errorf("%s asks about %q, want %q", threadID, got, want)
		}
	}
	e.childEnded(nil)
	if e.desk.ChangesOfAgent("sub", "i") != nil {
		t.Error("a subagent outlives its codex")
	}
}
