package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestTaskForAPollingPeerIsDoneOnce gives a task to a peer that asks for its messages, a
// channel. It is one row there and one turn, and the answer comes as a message.
func TestTaskForAPollingPeerIsDoneOnce(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := join(t, fakeplatform.JUN)
	m.online()
	peer := &polling{platform: m.platform, handle: m.platform.Add(fakeplatform.Workspace{Name: "Poller", Poll: true})}
	peer.launch(t, []string{"channel"})
	peer.AwaitListening()
	got := m.user("m1", fmt.Sprintf(`call delegate_task {"workspace_id":%q,"task":"say a poem"}`, peer.handle.ID()))
	if !strings.Contains(got, "Poller fetches its messages itself: the task is in its inbox") {
		t.Errorf("delegate_task: %q", got)
	}
	progtest.WaitFor(t, "the peer's answer to be a message that we have answered", func() bool {
		for _, row := range m.handle.Rows() {
			if row.Source == peer.handle.ID() && strings.Contains(string(row.ResponseBody), "result") {
				return true
			}
		}
		return false
	})
	tasks := 0
	for _, row := range peer.handle.Rows() {
		if row.Source == m.handle.ID() && row.Type == "a2a_receive" {
			tasks++
		}
	}
	if turns := len(peer.Model.Requests()); tasks != 1 || turns != 1 {
		t.Errorf("%d rows of the task in the peer's inbox, and %d turns", tasks, turns)
	}
	if given := m.platform.Requests("POST /workspaces/*/delegate"); len(given) != 0 {
		t.Errorf("it was delegated too, %d times", len(given))
	}
	m.hasTheExchange(peer.handle.ID())
}

// hasTheExchange looks into the history with the peer: our task, what the peer has
// answered, and what we have said to that.
func (m *member) hasTheExchange(peer string) {
	m.t.Helper()
	progtest.WaitFor(m.t, "the row about our task", func() bool {
		for _, row := range m.handle.Rows() {
			if row.Type == "a2a_send" && row.Target == peer {
				return true
			}
		}
		return false
	})
	got := m.user("m2", fmt.Sprintf(`call chat_history {"peer_id":%q}`, peer))
	var said []struct{ From, Text string }
	if err := json.Unmarshal([]byte(got), &said); err != nil || len(said) != 3 {
		m.t.Fatalf("%v: %s", err, got)
	}
	if said[0].From != "you" || said[0].Text != "say a poem" || said[2].From != "you" || said[2].Text == "" {
		m.t.Errorf("our side is %+v and %+v", said[0], said[2])
	}
	if said[1].From != "peer" || quoted(m.t, said[1].Text) != "a poem" {
		m.t.Errorf("the peer's is %+v", said[1])
	}
}
