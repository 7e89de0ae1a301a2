package codex

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// TestTurnBehindOurs: a turn that begins while the one of an attempt is not known to have ended is
// not ours; one that begins while ours is being started may be.
func TestTurnBehindOurs(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	c := &conversation{loadedIn: &child.Child{}, shown: shownThread{thread: "thread"}}
	e.conversations["one"] = c
	began := func(id string) {
		e.turnBegan(appserver.Notification{Method: appserver.NoteTurnStarted, ThreadID: "thread", Params: []byte(`{"threadId":"thread","turn":{"id":"` + id + `","items":[],"status":"inProgress"}}`)})
	}
	in := e.desk.Open("thread", executor.Order{Attempt: executor.Attempt{Job: "j1", Conversation: "one"}}, func() {})
	c.lock.Lock() // as long as a job runs
	began("ours")
	in.Begun("ours")
	e.bidden(c, "ours")
	began("ours")
	began("other")
	if len(c.unbidden) != 1 || c.unbidden[0] != "other" {
		t.Errorf("not ours are %q", c.unbidden)
	}
	if c.strange.Owed() {
		t.Error("a turn that is behind ours is taken for one before it")
	}
	e.bidden(c, "next")
	if len(c.unbidden) != 0 || !c.strange.Owed() {
		t.Errorf("with the one before a turn of ours that would be taken out: %q, and the model is told: %t", c.unbidden, c.strange.Owed())
	}
	c.unbidden = []string{"before", "ours", "behind"}
	c.strange.Told()
	e.bidden(c, "ours")
	if len(c.unbidden) != 1 || c.unbidden[0] != "behind" || !c.strange.Owed() {
		t.Errorf("with one on either side: %q, and the model is told: %t", c.unbidden, c.strange.Owed())
	}
	c.unbidden = nil
	c.lock.Unlock()
	e.wg.Wait()
}
