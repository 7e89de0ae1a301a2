package codex_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestMuteQuestionIsDeclined where the scheduler does not have it wait, and has given its place back when the turn has
// ended that it waited in.
func TestMuteQuestionIsDeclined(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.MaxMute = 1 })
	muted := func(id string) *witness {
		job := executor.Job{ID: id, Context: id, Input: []agent.Input{agent.Text("!ask " + approval)}, Mute: true}
		return submitJob(t, e, job)
	}
	first := muted("first")
	q := first.asked(t, 1)
	second := muted("second")
	end := second.wait(t)
	notices := seen[agent.Notice](second)
	if !strings.Contains(said(end), `"decline"`) || len(seen[agent.Question](second)) > 0 || len(notices) != 1 || !strings.Contains(notices[0].Text, "at most 1 turns") {
		t.Errorf("answered %q, asked %+v, told %+v", said(end), seen[agent.Question](second), notices)
	}
	mustReply(t, e, "first", q, "yes")
	wantEnd(t, first.wait(t), agent.Completed, "")
	if err := reply(t, e, "first", q, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer after the end: %v", err)
	}
	third := muted("third")
	mustReply(t, e, "third", third.asked(t, 1), "yes")
	wantEnd(t, third.wait(t), agent.Completed, "")
}
