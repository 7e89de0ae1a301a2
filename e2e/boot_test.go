package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// bothEras runs a test against the oldest and the newest age of the platform, with a
// workspace whose program does not run yet.
func bothEras(t *testing.T, test func(t *testing.T, m *member)) {
	for _, era := range []fakeplatform.Era{fakeplatform.APR, fakeplatform.AUG} {
		t.Run(era.String(), func(t *testing.T) { test(t, newMember(t, era)) })
	}
}

// typed is a message as the user's browser makes it.
func typed(id, text string) object {
	return object{"message": object{"role": "user", "messageId": id, "parts": []object{{"type": "text", "text": text}}}}
}

// user has the user say something, and returns what the workspace answers.
func (m *member) user(id, text string) string {
	m.t.Helper()
	said, _ := userSends(m.t, m.handle, typed(id, text))
	return said
}

// TestListensBeforeItRegisters: the platform hands on what has waited as soon as it has
// taken a registration, which is before we hear that it did.
func TestListensBeforeItRegisters(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	bothEras(t, func(t *testing.T, m *member) {
		first := make(chan fakeplatform.Reply, 1)
		m.platform.Behave("POST /registry/register", fakeplatform.Then(func() {
			reply, err := m.handle.Say(t.Context(), "say first")
			if err != nil {
				t.Error(err)
			}
			first <- reply
		}).Times(1))
		m.enter()
		reply := <-first
		if text, _ := readReply(t, string(reply.Body)); reply.Status != http.StatusOK || text != "first" {
			t.Errorf("the first turn: %d %s", reply.Status, reply.Body)
		}
		m.online()
		for _, r := range m.platform.Requests("POST /registry/register") {
			if !strings.Contains(string(r.Body), `"delivery_mode":"push"`) || strings.Contains(string(r.Body), "http://127.") {
				t.Errorf("registered with %s", r.Body)
			}
		}
		rows := m.handle.Rows()
		if len(rows) != 1 || rows[0].Type != "a2a_receive" || rows[0].Status != "ok" {
			t.Errorf("the platform has logged %+v", rows)
		}
	})
}

// TestBootWithoutThePlatform starts in an outage: messages are answered all the same, and
// the workspace is there when the platform is.
func TestBootWithoutThePlatform(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	bothEras(t, func(t *testing.T, m *member) {
		m.platform.Outage(true)
		m.enter()
		if got := text(m.send("m1", "c", "say alone")); got != "alone" {
			t.Errorf("in the outage: %q", got)
		}
		m.platform.Outage(false)
		progtest.WaitFor(t, "the registration", func() bool { return m.handle.URL() != "" && m.handle.Status() == "online" })
		if got := m.user("m2", "say together"); got != "together" {
			t.Errorf("after it: %q", got)
		}
	})
}

// TestRefusedRegistration: an address that the platform does not take is no reason to end,
// or to be silent; the heartbeats bring what the registration would have.
func TestRefusedRegistration(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	bothEras(t, func(t *testing.T, m *member) {
		m.platform.Behave("POST /registry/register", fakeplatform.Refuse(http.StatusBadRequest, `{"error":"invalid request body"}`))
		m.enter()
		beat := m.beats("a beat with the card", func(b fakeplatform.Beat) bool { return len(b.Card) > 0 })
		if !strings.Contains(string(beat.Card), `"skills":[`) || m.handle.Status() != "online" {
			t.Errorf("%s, with the card %s", m.handle.Status(), beat.Card)
		}
		if status, body := m.fetch("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "registered") {
			t.Errorf("ready, though nobody can reach us: %d %s", status, body)
		}
		if got := text(m.send("m1", "c", "say here")); got != "here" {
			t.Errorf("answered %q", got)
		}
	})
}

// TestBadConfigurationOnThePlatform: where turns cannot be started the workspace is there
// all the same, and says why to whoever asks, in a reply.
func TestBadConfigurationOnThePlatform(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	bothEras(t, func(t *testing.T, m *member) {
		m.put("config.yaml", "name: Ada\nmodel: minimax\n")
		m.enter()
		beat := m.beats("a beat that says wedged", func(b fakeplatform.Beat) bool { return b.RuntimeState == "wedged" })
		const why = `model is "minimax", which is the name of a provider`
		if !strings.Contains(beat.SampleError, why) || m.handle.Status() != "degraded" {
			t.Errorf("%s: %q", m.handle.Status(), beat.SampleError)
		}
		if got := m.user("m1", "say hello"); !strings.HasPrefix(got, "[codex ") || !strings.Contains(got, why) {
			t.Errorf("answered %q", got)
		}
		m.put("config.yaml", "name: Ada\nmodel: gpt-5.5\n")
		if got := m.user("m2", "say hello"); got != "hello" {
			t.Errorf("with the file corrected: %q", got)
		}
		m.beats("a beat that all is well", func(b fakeplatform.Beat) bool { return b.RuntimeState == "" })
	})
}

// TestInitialPromptIsNobodysWords: it runs once, over a restart, and the platform does not
// show it as the user's own.
func TestInitialPromptIsNobodysWords(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	bothEras(t, func(t *testing.T, m *member) {
		m.put("config.yaml", "name: Ada\ninitial_prompt: say good morning\n")
		m.enter()
		m.modelAsked(1)
		progtest.WaitFor(t, "the end of the turn", func() bool {
			tasks := m.call("ListTasks", object{})["result"]
			return at(tasks, "tasks", 0, "status", "state") == "TASK_STATE_COMPLETED"
		})
		m.again()
		if got := m.user("m1", "say two"); got != "two" {
			t.Errorf("answered %q", got)
		}
		asked := 0
		for _, r := range m.Model.Requests() {
			if r.LastUserText() == "say good morning" {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("the prompt was sent %d times", asked)
		}
		for _, row := range m.handle.Rows() {
			if strings.Contains(string(row.RequestBody), "good morning") {
				t.Errorf("the platform has it as %+v", row)
			}
		}
		if sent := m.platform.Requests("POST /workspaces/*/a2a"); len(sent) != 0 {
			t.Errorf("%d messages through the platform", len(sent))
		}
	})
}
