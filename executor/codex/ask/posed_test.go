package ask

import (
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestCutAllowsOnce: leave that lasts is not given to what is not all shown, nor taken.
func TestCutAllowsOnce(t *testing.T) {
	t.Parallel()
	p := poseOf(t, askChange, `{"itemId":"i"}`, agent.Change{Path: "/x", Kind: "add", Diff: "s3cret" + strings.Repeat("x", 2*mostShown)})
	if _, err := p.Answer(agent.Answer{Text: "always"}); err == nil || !strings.Contains(err.Error(), "for this once only") {
		t.Errorf("always: %v", err)
	}
	if _, err := p.Answer(agent.Answer{Text: "yes"}); err != nil {
		t.Errorf("yes: %v", err)
	}
	if _, err := p.Answer(agent.Answer{Text: "yes", Files: true}); err == nil {
		t.Error("an answer with a file is taken")
	}
	q := p.Question("turn-1", time.Unix(1e9, 5))
	if !strings.Contains(q.Text, "a secret that the runtime knows is not shown.") || !strings.HasSuffix(q.Text, "for this once only.") ||
		!strings.HasSuffix(q.Accepts, " Without an answer by 2001-09-09 01:46:40 UTC it is declined.") {
		t.Errorf("the question ends %q, %q", q.Text[len(q.Text)-200:], q.Accepts)
	}
	for member, want := range map[string]any{"id": "turn-1", "type": "question", "kind": "fileChange", "cut": true, "hidden": true, "deadline": "2001-09-09T01:46:40Z"} {
		if q.Data[member] != want {
			t.Errorf("%s is %v, want %v", member, q.Data[member], want)
		}
	}
	if never := p.Question("turn-1", time.Time{}); never.Data["deadline"] != nil || strings.Contains(never.Accepts, "Without") {
		t.Errorf("without a deadline: %v, %q", never.Data["deadline"], never.Accepts)
	}
}

// TestUnknownCallIsAForm: what says of itself that it is about a call that has not begun is answered
// as the server's form that it is.
func TestUnknownCallIsAForm(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		with := viewOf()
		with.Called = func(Call) bool { return known }
		p := requestOf(t, toolRequest, false).Pose(with)
		if _, err := p.Answer(agent.Answer{Text: "always"}); (err == nil) != known {
			t.Errorf("the call is known: %t, always: %v", known, err)
		}
		if kind := p.Question("", time.Time{}).Kind; (kind == "tool") != known {
			t.Errorf("the call is known: %t, it is a question of kind %s", known, kind)
		}
	}
}

// TestLinkIsTheUsers to open.
func TestLinkIsTheUsers(t *testing.T) {
	t.Parallel()
	for _, peer := range []bool{false, true} {
		if notice, why := requestOf(t, linkRequest, false).Pose(viewOf()).Unaskable(peer); (notice != "") != peer || (why != "") != peer {
			t.Errorf("of a peer: %t, it is told %q, %q", peer, notice, why)
		}
	}
}
