package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// settled waits for the end of a delegation and returns what came of it.
func settled(t *testing.T, of *fakeplatform.Handle, id string) (status, outcome string) {
	t.Helper()
	progtest.WaitFor(t, "the delegation to end", func() bool {
		status, outcome = of.Delegated(id)
		return status == "completed" || status == "failed"
	})
	return status, outcome
}

// TestDelegatedToUs has a peer give us tasks by way of the platform, one of them twice.
// The peer gets the text; the user is told nothing.
func TestDelegatedToUs(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		peer := m.platform.Add(fakeplatform.Workspace{Name: "Peer", Reply: strings.ToUpper})
		if status, got := settled(t, peer, m.handle.Delegate(peer, "say done")); status != "completed" || got != "done" {
			t.Errorf("%s: %q", status, got)
		}
		m.platform.RepeatDispatch(1)
		if status, got := settled(t, peer, m.handle.Delegate(peer, "remember fig-3")); status != "completed" || got != "remembered: fig-3" {
			t.Errorf("handed on twice, %s: %q", status, got)
		}
		if n := len(m.Model.Requests()); n != 2 {
			t.Errorf("the model was asked %d times for two tasks", n)
		}
		if status, got := settled(t, peer, m.handle.Delegate(peer, "fail 400")); status != "completed" || !strings.HasPrefix(got, "[codex error] ") {
			t.Errorf("of a turn that fails, %s: %q", status, got)
		}
		if told := m.handle.Notices(); len(told) != 0 {
			t.Errorf("the user was told %+v", told)
		}
	})
}

// TestDelegatedByUs gives a peer a task and waits, and one without waiting, whose result
// comes as a message once, over a restart.
func TestDelegatedByUs(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		progtest.WaitFor(t, "the delegations to be asked for", func() bool {
			_, err := os.Stat(filepath.Join(m.State, "delegations.json"))
			return err == nil
		})
		peer := m.platform.Add(fakeplatform.Workspace{Name: "Peer", Reply: strings.ToUpper})
		task := fmt.Sprintf(`{"workspace_id":%q,"task":"a poem"}`, peer.ID())
		if got := m.user("m1", "call delegate_task "+task); quoted(t, got) != "A POEM" {
			t.Errorf("delegate_task: %q", got)
		}
		sent := m.platform.Requests("POST /workspaces/" + peer.ID() + "/a2a")
		if len(sent) != 1 || sent[0].Header.Get("X-Workspace-ID") != m.handle.ID() {
			t.Errorf("the platform does not know who asks: %+v", sent)
		}
		seen := m.platform.Behave("GET /workspaces/*/delegations", fakeplatform.Refuse(503)) // the next process is to be the first to see it
		var given struct {
			ID string `json:"delegation_id"`
		}
		got := m.user("m2", "call delegate_task_async "+strings.Replace(task, "poem", "song", 1))
		if err := json.Unmarshal([]byte(got), &given); err != nil || given.ID == "" {
			t.Fatalf("delegate_task_async: %v, %q", err, got)
		}
		if status, got := settled(t, m.handle, given.ID); status != "completed" || got != "A SONG" {
			t.Errorf("%s, the peer says %q", status, got)
		}
		m.Kill()
		seen()
		m.resultsAreToldOnce(given.ID)
		var said []struct{ From, Text string }
		got = m.user("m4", fmt.Sprintf(`call chat_history {"peer_id":%q}`, peer.ID()))
		if err := json.Unmarshal([]byte(got), &said); err != nil || len(said) < 2 || strings.Count(got, `"a song"`) != 1 {
			t.Fatalf("chat_history: %v, %s", err, got)
		}
		asked, answer := said[len(said)-2], said[len(said)-1]
		if asked.From != "you" || asked.Text != "a song" || answer.From != "peer" || quoted(t, answer.Text) != "A SONG" {
			t.Errorf("chat_history: %s", got)
		}
		if got := m.user("m3", fmt.Sprintf(`call check_task_status {"task_id":%q}`, given.ID)); !strings.Contains(got, "A SONG") {
			t.Errorf("check_task_status: %q", got)
		}
	})
}

// resultsAreToldOnce starts the program, which looks for results at once, and once more,
// which must not tell them again.
func (m *member) resultsAreToldOnce(id string) {
	m.t.Helper()
	var told atomic.Int32
	m.Model.SetScript(func(turn *fakemodel.Turn) {
		if strings.Contains(turn.LastUserText(), "Results of work") && len(turn.NewToolOutputs()) == 0 {
			told.Add(1)
			if text := turn.LastUserText(); !strings.Contains(text, id) || strings.Contains(text, "A SONG") {
				m.t.Errorf("codex is told %q", text)
			}
		}
		fakemodel.Keywords(turn)
	})
	m.Program = m.Restart()
	progtest.WaitFor(m.t, "codex to be told", func() bool { return told.Load() == 1 })
	progtest.WaitFor(m.t, "the end of that turn", func() bool { return strings.Contains(m.Log(), "turn ended") })
	progtest.WaitFor(m.t, "the user to be told", func() bool { return len(m.handle.Notices()) > 0 })
	m.again()
	m.online()
	if told := m.handle.Notices(); len(told) != 1 || told[0].Message != "“Peer” has finished the task that was delegated to it: “A SONG”" {
		m.t.Errorf("the user was told %+v", told)
	}
	if got := m.user("again", "say x"); got != "x" || told.Load() != 1 {
		m.t.Errorf("answered %q, and told %d times", got, told.Load())
	}
}
