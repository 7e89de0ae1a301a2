package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestKeptRulings: what else the old bridge did, or what takes its place, as far as the
// tests of the channel do not have it.
func TestKeptRulings(t *testing.T) {
	t.Parallel()
	keeps(t, []promise{
		{"outages_are_no_dead_letters", func(t *testing.T) {
			x := poll(t)
			for _, status := range []int{http.StatusServiceUnavailable, http.StatusRequestTimeout, http.StatusUnauthorized} {
				x.platform.Behave("POST */notify", fakeplatform.Refuse(status).Times(1))
			}
			x.platform.Behave("POST */notify", fakeplatform.TooMany(time.Second).Times(1))
			x.say("say patience")
			if told := x.told(1); told[0] != "patience" {
				t.Errorf("the user was told %q", told)
			}
			if out, code := x.Command("channel", "dead", "--json"); code != 0 || strings.TrimSpace(out) != "[]" && strings.TrimSpace(out) != "null" {
				t.Errorf("%d: %s", code, out)
			}
			x.quiet(1, 1)
		}},
		{"a_user_who_is_not_to_be_talked_to_is_no_loop", func(t *testing.T) {
			x := poll(t)
			x.handle.Mute(true)
			x.say("say into the void")
			x.acked(0)
			x.warned("the sender cannot be told that a reply was refused")
			tried := len(x.platform.Requests("POST */notify"))
			x.quiet(1, 0)
			if more := len(x.platform.Requests("POST */notify")); more != tried || tried > 2 { // the reply, and that it could not be sent
				t.Errorf("the user was to be told %d times, then %d", tried, more)
			}
			if out, _ := x.Command("channel", "dead"); !strings.Contains(out, "into the void") {
				t.Errorf("the dead letters are %s", out)
			}
		}},
		{"only_the_contiguous_replied_prefix_is_acked", func(t *testing.T) {
			x := poll(t)
			bob := x.neighbour("Bob")
			undo := x.platform.Behave("POST */notify", fakeplatform.Refuse(503))
			first := x.row("", "message/send", userText("say first"))
			bob.send(x.handle, "b1", "say second", nil)
			bob.got(1)
			x.polls(2)
			if acked := x.handle.Acked(); acked >= first.Seq {
				t.Errorf("%d is acknowledged, and %d has no reply", acked, first.Seq)
			}
			undo()
			x.acked(1)
		}},
		{"a_replied_failure_is_acked_and_keeps_the_thread", func(t *testing.T) {
			x := poll(t)
			x.say("remember blue-3")
			x.told(1)
			failed := x.row("", "message/send", userText("fail 400"))
			if told := x.told(2); !strings.Contains(told[1], "(codex exec failed: exit=1)") {
				t.Errorf("the user was told %q", told)
			}
			x.done(failed)
			x.say("recall")
			if told := x.told(3); !strings.Contains(told[2], "blue-3") {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"state_dir_override", func(t *testing.T) {
			dir := codextest.Dir(t, "old-state")
			x := poll(t, "RUNTIME_STATE_DIR=", "CODEX_CHANNEL_MOLECULE_STATE_DIR="+dir)
			x.say("say here")
			x.told(1)
			if _, err := os.Stat(filepath.Join(dir, "state.db")); err != nil {
				t.Error(err)
			}
		}},
		{"corrupt_sessions_are_warned_about", func(t *testing.T) {
			dir := codextest.Dir(t, "old-state")
			writeFile(t, filepath.Join(dir, "sessions.json"), "{")
			x := poll(t, "CODEX_CHANNEL_MOLECULE_STATE_DIR="+dir)
			x.warned("sessions of codex-channel-molecule", "sessions.json")
			x.say("say anew")
			if told := x.told(1); told[0] != "anew" {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"flat_text_goes_before_parts", func(t *testing.T) {
			x := poll(t)
			x.row("", "message/send", `{"text":"say flat","parts":[{"kind":"text","text":"say parts"}]}`)
			if told := x.told(1); told[0] != "flat" {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"an_empty_body_still_runs", func(t *testing.T) {
			x := poll(t, "RUNTIME_MID_TURN=queue")
			for _, request := range []string{`{"params":{"message":{"parts":[]}}}`, `null`, `"odd"`, `{"params":{"message":{"parts":[{"kind":"text","text":""}]}}}`} {
				x.row("", "message/send", request)
			}
			x.told(4)
			if asked := x.asked(); len(asked) != 4 {
				t.Errorf("codex was asked %q", asked)
			}
		}},
		{"presence_goes_on_in_an_outage", func(t *testing.T) {
			x := poll(t)
			x.polls(1)
			for _, route := range []string{"GET */activity", "POST */notify", "POST */activity/ack"} {
				x.platform.Behave(route, fakeplatform.Refuse(503))
			}
			before := len(x.handle.Beats())
			progtest.WaitFor(t, "two more heartbeats", func() bool { return len(x.handle.Beats()) >= before+2 })
			if x.handle.Status() != "online" {
				t.Errorf("the workspace is %s", x.handle.Status())
			}
		}},
	})
}

// TestKeptSessions: the conversations of the old bridge go on, once.
func TestKeptSessions(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := &polling{program: &program{t: t}, platform: fakeplatform.Start(t, fakeplatform.AUG)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	dir := codextest.Dir(t, "old-state")
	bob, home := x.neighbour("Bob"), codextest.Home(t)
	text, _ := json.Marshal(map[string]string{
		"canvas:" + x.handle.ID(): execSession(t, home, "remember teal-7"), "peer:" + bob.ID(): execSession(t, home, "remember pink-1"),
		"peer:lost": "00000000-0000-7000-8000-000000000000", "unknown:1": "00000000-0000-7000-8000-000000000001",
	})
	writeFile(t, filepath.Join(dir, "sessions.json"), string(text))
	x.launch(t, []string{"channel"}, "CODEX_CHANNEL_MOLECULE_STATE_DIR="+dir, "CODEX_HOME="+home)
	x.AwaitListening()
	x.warned("does not have a session", "peer:lost")
	x.say("recall")
	bob.send(x.handle, "b1", "recall", nil)
	if told, got := x.told(1), bob.got(1); !strings.Contains(told[0], "teal-7") || !strings.Contains(got[0].Text, "pink-1") {
		t.Errorf("the user was told %q, Bob %+v", told, got)
	}
	for _, r := range x.Model.Requests() {
		if !strings.Contains(string(r.Body), "What other agents say to you is marked") {
			t.Errorf("the model is not told what marks are, with %q", r.LastUserText())
		}
	}
	// Begun anew, and not taken over again.
	x.say("/new")
	x.told(2)
	x.Stop()
	x.again()
	x.say("recall")
	if told := x.told(3); strings.Contains(told[2], "teal-7") {
		t.Errorf("after /new the user was told %q", told)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "sessions.json")); err != nil || !slices.Equal(after, text) {
		t.Errorf("the old bridge's file was changed: %s, %v", after, err)
	}
}

// execSession has codex exec begin a session, as the old bridge did, and returns its id.
func execSession(t *testing.T, home, prompt string) string {
	t.Helper()
	model := modeltest.Start(t, fakemodel.Keywords)
	env := append(progtest.Environ(t), "CODEX_HOME="+home, model.Env())
	return codextest.ExecSession(t, codextest.Bin(t), codextest.Dir(t, "work"), env, model.Overrides(), prompt)
}
