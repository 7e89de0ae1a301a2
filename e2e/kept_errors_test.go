package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// gaps are the times between the last n polls.
func (x *polling) gaps(n int) (out []time.Duration) {
	all := x.platform.Requests("GET */activity")
	all = all[len(all)-n-1:]
	for i := range n {
		out = append(out, all[i+1].At.Sub(all[i].At))
	}
	return out
}

// failing has polls fail until n of them have.
func (x *polling) failing(n int) (undo func()) {
	x.t.Helper()
	undo = x.platform.Behave("GET */activity", fakeplatform.Refuse(503))
	progtest.WaitFor(x.t, "polls to fail", func() bool {
		all := x.platform.Requests("GET */activity")
		return len(all) > n && !slices.ContainsFunc(all[len(all)-n:], func(r fakeplatform.Request) bool { return r.Status != 503 })
	})
	return undo
}

// TestKeptErrors: what goes wrong between the platform and the bridge.
func TestKeptErrors(t *testing.T) {
	t.Parallel()
	keeps(t, []promise{
		{"backoff_progression", func(t *testing.T) {
			x := poll(t)
			x.polls(1)
			undo := x.failing(4)
			for i, gap := range x.gaps(3) { // a slow machine makes them longer only
				if least := time.Second << i * 3 / 4; gap < least {
					t.Errorf("gap %d is %s, want %s at least", i, gap, least)
				}
			}
			undo()
		}},
		{"backoff_reset_on_first_success", func(t *testing.T) {
			x := poll(t)
			x.polls(1)
			undo := x.failing(4) // the next would be after 8 s
			undo()
			x.say("say back") // read by the first poll that succeeds
			x.told(1)
			x.polls(2)
			undo = x.failing(2)
			if gap := x.gaps(1)[0]; gap > 11*time.Second { // 16 s without the reset
				t.Errorf("after a success the first gap is %s", gap)
			}
			undo()
		}},
		{"inbox_pop_failure_does_not_rerun_codex", func(t *testing.T) {
			x := poll(t)
			undo := x.platform.Behave("POST */activity/ack", fakeplatform.Refuse(500))
			first := x.row("", "message/send", userText("say once"))
			x.told(1)
			progtest.WaitFor(t, "an acknowledgement to fail", func() bool { return len(x.platform.Requests("POST */activity/ack")) > 0 })
			x.warned("acknowledged")
			x.quiet(1, 1)
			undo()
			x.done(x.row("", "message/send", userText("say twice"))) // and all in front of it
			x.quiet(2, 2)
			if first.Seq >= x.handle.Acked() {
				t.Errorf("row %d is not acknowledged", first.Seq)
			}
		}},
		{"peer_agent_without_peer_id_is_drained", func(t *testing.T) {
			x := poll(t)
			poison := x.row(" ", "message/send", userText("say poison"))
			x.warned(poison.ID)
			x.done(poison)
			x.quiet(0, 0)
		}},
		{"unknown_message_kind_is_drained", func(t *testing.T) {
			x := poll(t)
			poison := x.row("", "tasks/strange", userText("say poison"))
			x.warned(poison.ID)
			x.done(poison)
			x.say("say next")
			if told := x.told(1); told[0] != "next" {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"empty_codex_output_gets_a_placeholder", func(t *testing.T) {
			x := poll(t)
			x.say("wait 0s")
			if told := x.told(1); told[0] != "(codex returned empty output)" {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"canvas_user_falls_back_to_workspace_id", func(t *testing.T) { // no row says where it has arrived
			x := poll(t)
			row := x.row("", "message/send", userText("remember teal-7"))
			x.done(row)
			x.say("recall")
			if told := x.told(2); !strings.Contains(told[1], "teal-7") {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"malformed_payload_invalid_json", malformed(`[{"id":`)},
		{"malformed_payload_non_dict", malformed(`"inbox"`)},
		{"malformed_payload_timeout_sentinel", malformed(`{"timeout":true,"timeout_secs":60}`)},
		{"malformed_payload_missing_activity_id", malformed(`[{"method":"message/send","request_body":{"parts":[{"text":"say poison"}]}}]`)},
	})
}

// malformed is an inbox that says something that is none, twice, and then a message.
func malformed(body string) func(t *testing.T) {
	return func(t *testing.T) {
		x := poll(t)
		x.platform.Behave("GET */activity", page(body).Times(2))
		x.polls(2)
		x.say("say sound")
		if told := x.told(1); told[0] != "sound" {
			t.Errorf("the user was told %q", told)
		}
		x.quiet(1, 1)
	}
}
