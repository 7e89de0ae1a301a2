package executor_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// wantDeclined submits a job whose sender may answer nothing, and checks that it was told that what it asks waits for
// no answer.
func (e *rig) wantDeclined(id, says string) {
	e.t.Helper()
	e.agent.script(id, play{asks})
	w := e.submit(id, id, mute)
	end := w.completes()
	notices := seen[agent.Notice](w)
	if !strings.Contains(said(end), "declined") || len(seen[agent.Question](w)) > 0 || len(notices) != 1 || !strings.Contains(notices[0].Text, says) {
		e.t.Errorf("answered %q, asked %+v, told %+v; want %q", said(end), seen[agent.Question](w), notices, says)
	}
}

// wantParked checks how many turns wait without a slot.
func (e *rig) wantParked(n int) {
	e.t.Helper()
	synctest.Wait()
	if slots := e.Health().Slots; slots.Parked != n || slots.Asking != 0 {
		e.t.Errorf("%+v, want %d parked", slots, n)
	}
}

// TestMuteQuestionsAreFew: of the turns whose senders may answer nothing, some wait without
// a slot for those who may, and the others go on at once; a sender who may is asked as ever.
func TestMuteQuestionsAreFew(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(_ *testing.T, e *rig) {
		first, q := e.asking("peer-0", mute)
		for i := range 3 {
			e.asking(fmt.Sprint("peer-", i+1), mute)
		}
		for i := range 8 {
			e.wantDeclined(fmt.Sprint("more-", i), "for an answer to them may never come: 1. Answers of another agent are not taken, and at most 4 turns")
		}
		e.wantParked(4)
		user, asked := e.asking("user")
		e.reply("user", asked, "yes")
		user.completes()
		e.reply("peer-0", q, "yes") // by a person
		first.completes()
		last, asked := e.asking("last", mute) // in its place
		e.reply("last", asked, "yes")
		last.completes()
	})
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
		"of one":       {0, 1, 0, 0, "they can have no answer here"},
		"none":         {-1, 64, 0, 0, "they can have no answer here"},
		"all are full": {0, 4, 4, 0, "at most 2 turns"},
		"but one":      {0, 4, 3, 1, "at most 2 turns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := func(cfg *executor.Config, _ *scripted) {
				cfg.MaxTurns, cfg.MaxQuestions, cfg.MaxMute = 1, c.questions, c.most
			}
			simulated(t, set, func(_ *testing.T, e *rig) {
				for i := range c.others {
					e.asking(fmt.Sprint("user-", i))
				}
				for i := range c.waits {
					e.asking(fmt.Sprint("peer-", i), mute)
				}
				e.wantDeclined("more", c.says)
				e.wantParked(c.others + c.waits)
			})
		})
	}
}

// TestMuteTurnWithOthersWords: a sender who may answer has a message in the turn.
func TestMuteTurnWithOthersWords(t *testing.T) {
	t.Parallel()
	simulated(t, func(c *executor.Config, _ *scripted) { c.MaxMute = -1 }, func(_ *testing.T, e *rig) {
		e.agent.script("peer", play{hears, asks})
		w := e.submit("peer", "peer", mute).starts()
		e.steer("peer", "more", "peer")
		e.reply("peer", has[agent.Question](w, 1), "yes")
		w.completes()
	})
}
