package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A member is a program that is a workspace of a platform.
type member struct {
	*program
	t        *testing.T
	platform *fakeplatform.Platform
	handle   *fakeplatform.Handle
	configs  string
}

// eras runs a test against the oldest and the newest age of the platform.
func eras(t *testing.T, test func(t *testing.T, m *member)) {
	for _, era := range []fakeplatform.Era{fakeplatform.APR, fakeplatform.AUG} {
		t.Run(era.String(), func(t *testing.T) { test(t, join(t, era)) })
	}
}

// join starts a platform with a workspace, and the program as that.
func join(t *testing.T, era fakeplatform.Era, extra ...string) *member {
	t.Helper()
	m := newMember(t, era)
	m.enter(extra...)
	return m
}

// newMember is a workspace whose program does not run yet.
func newMember(t *testing.T, era fakeplatform.Era) *member {
	t.Helper()
	platform := fakeplatform.Start(t, era)
	handle := platform.Add(fakeplatform.Workspace{Name: "Ada", Instructions: "## Platform-Wide Rules\n\nPLATFORM-RULE-one"})
	m := &member{t: t, platform: platform, handle: handle, configs: codextest.Dir(t, "configs")}
	m.put("system-prompt.md", "PERSONA-ada")
	m.put(".auth_token", handle.Token())
	return m
}

// enter runs the program.
func (m *member) enter(extra ...string) {
	m.t.Helper()
	m.program = start(m.t, append(m.settings(), extra...)...)
}

// settings are those that make the program this workspace.
func (m *member) settings() []string {
	addr := progtest.FreeAddr(m.t)
	return []string{
		"WORKSPACE_ID=" + m.handle.ID(), "PLATFORM_URL=" + m.platform.URL, "CONFIGS_DIR=" + m.configs,
		"RUNTIME_ADDR=" + addr, "MOLECULE_WORKSPACE_URL=http://" + strings.Replace(addr, "127.0.0.1", "localhost", 1),
	}
}

func (m *member) put(name, text string) {
	if err := os.WriteFile(filepath.Join(m.configs, name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// beats waits until the platform has a heartbeat of which ok is true.
func (m *member) beats(what string, ok func(b fakeplatform.Beat) bool) fakeplatform.Beat {
	m.t.Helper()
	var found fakeplatform.Beat
	progtest.WaitFor(m.t, what, func() bool {
		all := m.handle.Beats()
		if len(all) == 0 || !ok(all[len(all)-1]) {
			return false
		}
		found = all[len(all)-1]
		return true
	})
	return found
}

func (m *member) online() {
	m.t.Helper()
	progtest.WaitFor(m.t, "the workspace to be online", func() bool {
		return m.handle.Status() == "online" && m.handle.URL() != "" && len(m.handle.Beats()) > 0
	})
}

func TestPresence(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		if !strings.Contains(string(m.handle.Card()), `"skills":[`) {
			t.Errorf("registered with %s", m.handle.Card())
		}
		first := m.handle.Beats()[0]
		if first.ActiveTasks != 0 || first.RuntimeState != "" || !strings.Contains(string(first.Metadata), `"capabilities"`) {
			t.Errorf("the first beat is %+v with %s", first, first.Metadata)
		}
		if !strings.Contains(string(first.Metadata), `"idle_timeout_seconds":1860`) { // what a tool may take, and a minute
			t.Errorf("the platform may give a turn up before we do: %s", first.Metadata)
		}
		if !slices.Contains(first.LoadedTools, "mcp__molecule__list_peers") {
			t.Errorf("the first beat has the tools %v: not only those that were used count", first.LoadedTools)
		}
		progtest.WaitFor(t, "the runtime to be ready", func() bool {
			res, err := http.Get(m.URL + "/readyz")
			if err != nil {
				return false
			}
			defer res.Body.Close()
			return res.StatusCode == http.StatusOK
		})

		m.begin("m1", "canvas-"+m.handle.ID(), "hang")
		busy := m.beats("a beat of the turn", func(b fakeplatform.Beat) bool { return b.ActiveTasks == 1 })
		if busy.CurrentTask != "hang" || len(busy.Metadata) == 0 {
			t.Errorf("the beat at the start is %+v", busy)
		}
		if m.handle.Hibernate() {
			t.Error("the platform would hibernate a workspace in the middle of a turn")
		}
		m.send("stop", "canvas-"+m.handle.ID(), "/stop")
		m.beats("a beat of the end", func(b fakeplatform.Beat) bool { return b.ActiveTasks == 0 && b.CurrentTask == "" })
	})
}

// TestOutage has the platform go away in the middle of a turn, which must not notice, and
// come back.
func TestOutage(t *testing.T) {
	t.Parallel()
	eras(t, func(t *testing.T, m *member) {
		m.online()
		m.platform.Outage(true)
		if got := text(m.send("m1", "c", "say done")); got != "done" {
			t.Errorf("the turn says %q", got)
		}
		m.platform.Outage(false)
		m.beats("a beat after the outage", func(b fakeplatform.Beat) bool { return b.ActiveTasks == 0 })
		if got := m.user("m2", "say again"); got != "again" {
			t.Errorf("after the outage: %q", got)
		}
	})
}

// TestWedged has no codex: the platform hears it.
func TestWedged(t *testing.T) {
	t.Parallel()
	bothEras(t, func(t *testing.T, m *member) {
		m.enter("CODEX_BIN=/nowhere/codex")
		got := m.beats("a beat that says wedged", func(b fakeplatform.Beat) bool { return b.RuntimeState == "wedged" })
		if !strings.Contains(got.SampleError, "codex") || m.handle.Status() != "degraded" {
			t.Errorf("the beat is %+v, the workspace %s", got, m.handle.Status())
		}
	})
}

// TestDeletion has each age of the platform take heartbeats and registrations of a
// workspace that is gone. The runtime ends, and its token is the one that it had.
func TestDeletion(t *testing.T) {
	t.Parallel()
	for _, era := range fakeplatform.Eras() {
		t.Run(era.String(), func(t *testing.T) {
			t.Parallel()
			m := join(t, era)
			m.online()
			token := m.handle.Token()
			m.handle.Delete()
			if code := m.ExitCode(); code != 0 || !strings.Contains(m.Log(), "deleted this workspace") {
				t.Errorf("ended with %d", code)
			}
			if n := len(m.platform.Requests("POST /registry/register")); n != 1 {
				t.Errorf("registered %d times", n)
			}
			m.keeps(token)
			m.enter() // it is started once more, as by a restart policy
			if code := m.ExitCode(); code != 0 {
				t.Errorf("started again, it ends with %d", code)
			}
			m.keeps(token)
		})
	}
}

// keeps fails the test if the token's file has another.
func (m *member) keeps(token string) {
	m.t.Helper()
	if text, err := os.ReadFile(filepath.Join(m.configs, ".auth_token")); err != nil || strings.TrimSpace(string(text)) != token {
		m.t.Errorf("the token's file has %q, %v: not the one that was good once", text, err)
	}
}

// developers are the developer messages of the newest request, of which word is part.
func (m *member) developers(word string) (found []string) {
	requests := m.Model.Requests()
	for _, item := range requests[len(requests)-1].Input {
		if item.Type == "message" && item.Role == "developer" && strings.Contains(item.Text, word) {
			found = append(found, item.Text)
		}
	}
	return found
}

// TestPromptOfTheWorkspace: what the platform and the files say reaches the model, and
// a change of it a thread that goes on.
func TestPromptOfTheWorkspace(t *testing.T) {
	t.Parallel()
	m := join(t, fakeplatform.AUG)
	m.online()
	progtest.WaitFor(t, "the platform's part to be there", func() bool {
		text, _ := os.ReadFile(filepath.Join(m.State, "prompt.json"))
		return strings.Contains(string(text), "PLATFORM-RULE-one")
	})
	m.send("m1", "c", "say one")
	got := strings.Join(m.developers("PERSONA"), "|")
	if !strings.Contains(got, "PLATFORM-RULE-one") || strings.Index(got, "PLATFORM-RULE-one") > strings.Index(got, "PERSONA-ada") ||
		!strings.Contains(got, "commit_memory") {
		t.Errorf("the model reads %q", got)
	}
	m.put("system-prompt.md", "PERSONA-grace")
	m.again()
	m.send("m2", "c", "say two")
	if got := m.developers("PERSONA"); len(got) != 2 || !strings.Contains(got[1], "PERSONA-grace") || !strings.Contains(got[1], "PLATFORM-RULE-one") {
		t.Errorf("the model reads %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(m.Work, "AGENTS.md")); err != nil || !strings.Contains(string(text), "molecule-codex-runtime") {
		t.Errorf("AGENTS.md: %v, %s", err, text)
	}
	if strings.Contains(m.Log(), "folder of plugins") { // there is none
		t.Error("plugins are looked for where none were said to be")
	}
}

// TestResultsOfDelegations are told to codex once, over a restart, and not in the words of the peer.
func TestResultsOfDelegations(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := join(t, fakeplatform.AUG)
	m.online()
	progtest.WaitFor(t, "the delegations to be asked for", func() bool {
		_, err := os.Stat(filepath.Join(m.State, "delegations.json"))
		return err == nil
	})
	var told atomic.Int32
	m.Model.SetScript(func(turn *fakemodel.Turn) {
		if strings.Contains(turn.LastUserText(), "Results of work") {
			told.Add(1)
		}
		turn.Say("noted: " + turn.LastUserText())
	})
	peer := m.platform.Add(fakeplatform.Workspace{Name: "Peer"})
	m.Kill()
	id := m.handle.AddDelegation(peer.ID(), "completed", "PEER SAYS obey", "")
	m.Program = m.Restart() // asks at once
	progtest.WaitFor(t, "codex to be told", func() bool { return told.Load() == 1 })
	requests := m.Model.Requests()
	last := fmt.Sprint(requests[len(requests)-1].UserTexts())
	if !strings.Contains(last, id) || strings.Contains(last, "PEER SAYS") {
		t.Errorf("codex is told %s", last)
	}
	progtest.WaitFor(t, "the user to be told", func() bool { return len(m.handle.Notices()) == 1 })
	progtest.WaitFor(t, "the turn to end", func() bool { return strings.Contains(m.Log(), "turn ended") })
	m.again()
	m.send("m1", "other", "say x")
	if told.Load() != 1 {
		t.Errorf("told %d times", told.Load())
	}
}
