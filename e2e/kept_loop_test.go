package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestKeptLoop: from the inbox to codex, to the reply, to the acknowledgement.
func TestKeptLoop(t *testing.T) {
	t.Parallel()
	keeps(t, []promise{
		{"canvas_user_message_is_dispatched_acked_and_replied", func(t *testing.T) {
			x := poll(t)
			row := x.row("", "message/send", userText("say sure, what's up"))
			if told := x.told(1); told[0] != "sure, what's up" {
				t.Errorf("the user was told %q", told)
			}
			x.done(row)
			if asked := x.asked(); len(asked) != 1 || asked[0] != "say sure, what's up" {
				t.Errorf("codex was asked %q", asked)
			}
		}},
		{"peer_agent_message_routes_to_delegate_task", func(t *testing.T) {
			x := poll(t)
			bob := x.neighbour("Bob")
			bob.send(x.handle, "b1", "say all good", nil)
			if got := bob.got(1); len(got) != 1 || got[0].Text != "all good" || got[0].From != x.handle.ID() {
				t.Errorf("Bob got %+v", got)
			}
			x.acked(0)
			x.quiet(1, 0)
		}},
		{"session_continuity_resumes_same_codex_session", func(t *testing.T) {
			x := poll(t)
			x.say("remember teal-7")
			x.told(1)
			x.say("recall")
			if told := x.told(2); !strings.Contains(told[1], "teal-7") {
				t.Errorf("the user was told %q", told)
			}
		}},
		{"session_store_persists_across_runs", func(t *testing.T) {
			x := poll(t)
			bob := x.neighbour("Bob")
			x.say("remember teal-7")
			x.told(1)
			bob.send(x.handle, "b1", "remember pink-1", nil)
			bob.got(1)
			x.Stop()
			x.again()
			x.say("recall")
			bob.send(x.handle, "b2", "recall", nil)
			if told, got := x.told(2), bob.got(2); !strings.Contains(told[1], "teal-7") || !strings.Contains(got[1].Text, "pink-1") {
				t.Errorf("the user was told %q, Bob got %+v", told, got)
			}
		}},
		{"timeout_sentinel_does_not_call_codex", func(t *testing.T) {
			x := poll(t)
			x.quiet(0, 0)
			if acked := x.handle.Acked(); acked != 0 {
				t.Errorf("row %d was acknowledged", acked)
			}
		}},
		{"failed_reply_routing_skips_inbox_pop", func(t *testing.T) {
			x := poll(t)
			undo := x.platform.Behave("POST */notify", fakeplatform.Refuse(502))
			row := x.row("", "message/send", userText("say msg"))
			progtest.WaitFor(t, "the reply to be tried", func() bool { return len(x.platform.Requests("POST */notify")) > 0 })
			x.quiet(1, 0)
			if acked := x.handle.Acked(); acked >= row.Seq {
				t.Errorf("row %d was acknowledged", acked)
			}
			undo()
			x.told(1)
			x.done(row)
			x.quiet(1, 1) // the reply was sent again, and codex not asked again
		}},
		{"nonzero_exit_code_surfaces_in_reply", func(t *testing.T) {
			x := poll(t, "CODEX_TURN_TIMEOUT=2s")
			row := x.row("", "message/send", userText("hang"))
			if told := x.told(1); !strings.Contains(told[0], "timed out") || !strings.Contains(told[0], "exit=-1") {
				t.Errorf("the user was told %q", told)
			}
			x.done(row)
		}},
		{"a2a_multipart_text_is_concatenated", func(t *testing.T) {
			x := poll(t)
			bob := x.neighbour("Bob")
			for _, request := range []string{
				`{"parts":[{"type":"text","text":"first chunk"},{"type":"text","text":"second chunk"}]}`,
				`{"params":{"parts":[{"kind":"text","text":"first chunk"},{"kind":"text","text":"second chunk"}]}}`,
				`{"params":{"message":{"parts":[{"kind":"text","text":"first chunk"},{"kind":"file","file":{}},{"text":"second chunk"}]}}}`,
			} {
				x.row(bob.ID(), "message/send", request)
			}
			bob.got(3)
			if asked := x.asked(); slices.ContainsFunc(asked, func(p string) bool { return peerwords.Within(p) != "first chunk\nsecond chunk" }) {
				t.Errorf("codex was asked %q", asked)
			}
		}},
	})
}
