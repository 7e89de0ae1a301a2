package tasks

import (
	"testing"
)

// engineWithPeers is one of a workspace, without a journal.
func engineWithPeers() *Engine {
	return &Engine{cfg: Config{Workspace: &Workspace{}}}
}

// TestAllThatIsToldAgainIsBounded: what a task has told so counts among that of all until it ends,
// and the first of each is its own.
func TestAllThatIsToldAgainIsBounded(t *testing.T) {
	e := engineWithPeers()
	var all []*task
	for range 8 {
		one := e.newTask("", "", "")
		if !one.retold.may(ofAsks, mostTold) || one.retold.may(ofAsks, mostTold+1) {
			t.Error("a task has another bound")
		}
		one.retold.count(ofAsks, mostTold)
		all = append(all, one)
	}
	last := &e.newTask("", "", "").retold
	for _, what := range []repeat{ofAsks, ofDiffs, ofDrafts} {
		if !last.may(what, mostTold) || last.may(what, mostTold+1) {
			t.Errorf("of what others have told a task has not its first of %d", what)
		}
		if last.count(what, 1); last.may(what, 1) {
			t.Errorf("of all tasks more is told of %d", what)
		}
	}
	e.forget(all[0])
	e.forget(all[0])
	if !last.may(ofDiffs, mostTold-3) || last.may(ofDiffs, mostTold-2) || e.retold.all != 7*mostTold+3 {
		t.Errorf("when one has ended %d bytes are counted", e.retold.all)
	}
}

// TestOtherAgentsTellAgainFromTheirShare, and what they have beyond it is not at the cost of the
// user's.
func TestOtherAgentsTellAgainFromTheirShare(t *testing.T) {
	e := engineWithPeers()
	users, bobs := e.newTask("", "", "sess-1"), e.newTask("", "", "peer:bob")
	users.retold.count(ofDrafts, 1)
	bobs.retold.count(ofDrafts, 1)
	e.Retell(true, peersTold-1)
	if !bobs.retold.may(ofDrafts, 0) || bobs.retold.may(ofDrafts, 1) {
		t.Error("other agents have another share")
	}
	e.Retell(true, mostToldOfAll)
	if !users.retold.may(ofDrafts, mostTold-1) {
		t.Error("theirs take it from the user's")
	}
	e.Retell(false, mostToldOfAll-peersTold-1)
	if !users.retold.may(ofDrafts, 0) || users.retold.may(ofDrafts, 1) {
		t.Error("with theirs the user's have another bound")
	}
	e.forget(users)
	e.forget(bobs)
	if e.retold.peers != peersTold+mostToldOfAll-1 || e.retold.all-e.retold.peers != mostToldOfAll-peersTold-1 {
		t.Errorf("in the end %d bytes are counted, %d of them of other agents", e.retold.all, e.retold.peers)
	}
}
