package codex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// muted submits a job whose sender may answer nothing, in a context of its own.
func muted(t *testing.T, e *rig, id, text string) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: id, Input: []agent.Input{agent.Text(text)}, Mute: true}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatal(err)
	}
	return w
}

// wantDeclined checks that a job was told that what it asks waits for nobody.
func wantDeclined(t *testing.T, w *witness, says string) {
	t.Helper()
	end := w.wait(t)
	notices := seen[agent.Notice](w)
	if !strings.Contains(said(end), `"decline"`) || len(seen[agent.Question](w)) > 0 || len(notices) != 1 || !strings.Contains(notices[0].Text, says) {
		t.Errorf("answered %q, asked %+v, told %+v; want %q", said(end), seen[agent.Question](w), notices, says)
	}
}

// TestMuteQuestionsAreFew: of the turns whose senders may answer nothing, some wait without
// a slot for those who may, and the others go on at once; a sender who may is asked as ever.
func TestMuteQuestionsAreFew(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", narrow)
	waiting := map[string]*witness{}
	for i := range 4 {
		id := fmt.Sprintf("peer-%d", i)
		waiting[id] = muted(t, e, id, "!ask "+approval)
		waiting[id].asked(t, 1)
	}
	for i := range 8 {
		wantDeclined(t, muted(t, e, fmt.Sprintf("more-%d", i), "!ask "+approval), "for nobody may be there to answer them: 1. Answers of another agent are not taken, and at most 4 turns")
	}
	wantParked(t, e, 4, 0)
	user := submit(t, e, "j1", "one", "!ask "+approval)
	mustReply(t, e, "j1", user.asked(t, 1), "yes")
	wantEnd(t, user.wait(t), agent.Completed, "")
	for id, w := range waiting { // by somebody else
		mustReply(t, e, id, w.asked(t, 1), "yes")
		wantEnd(t, w.wait(t), agent.Completed, "")
		break
	}
	eventually(t, "a place", func() bool { return e.Health().Questions == 3 })
	last := muted(t, e, "last", "!ask "+approval)
	mustReply(t, e, "last", last.asked(t, 1), "yes")
	wantEnd(t, last.wait(t), agent.Completed, "")
}

// TestMuteQuestionsLeavePlaces to others: half of those for turns that wait without a slot, and
// they take none that is not free.
func TestMuteQuestionsLeavePlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most, questions, others, waits int
		says                           string
	}{
		"half":         {0, 4, 0, 2, "at most 2 turns"},
		"of one":       {0, 1, 0, 0, "nobody may answer them here"},
		"none":         {-1, 64, 0, 0, "nobody may answer them here"},
		"all are full": {0, 4, 4, 0, "at most 2 turns"},
		"but one":      {0, 4, 3, 1, "at most 2 turns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := onFake(t, "", func(cfg *config) {
				narrow(cfg)
				cfg.MaxQuestions, cfg.MaxMute = c.questions, c.most
			})
			for i := range c.others {
				id := fmt.Sprintf("user-%d", i)
				submit(t, e, id, id, "!ask "+approval).asked(t, 1)
			}
			for i := range c.waits {
				muted(t, e, fmt.Sprintf("peer-%d", i), "!ask "+approval).asked(t, 1)
			}
			wantDeclined(t, muted(t, e, "more", "!ask "+approval), c.says)
			wantParked(t, e, c.others+c.waits, 0)
		})
	}
}

// TestMuteTurnWithOthersWords: somebody who may answer has a message in the turn.
func TestMuteTurnWithOthersWords(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.MaxMute = -1 })
	w := muted(t, e, "peer", "!hold-ask "+approval)
	w.started(t)
	more := executor.Job{ID: "more", Context: "peer", Input: []agent.Input{agent.Text("more")}}
	if err := e.Steer("peer", more, func(agent.Event) {}); err != nil {
		t.Fatal(err)
	}
	q := w.asked(t, 1)
	mustReply(t, e, "peer", q, "yes")
	wantEnd(t, w.wait(t), agent.Completed, "")
	if err := reply(t, e, "peer", q, "yes"); !errors.Is(err, executor.ErrNotAsked) {
		t.Errorf("an answer after the end: %v", err)
	}
}
