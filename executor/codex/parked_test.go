package codex_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// narrow leaves one slot.
func narrow(c *config) { c.MaxTurns = 1 }

// hanging submits a turn that lasts until it is canceled, and waits for its start.
func hanging(t *testing.T, e *rig, id string) *witness {
	t.Helper()
	w := submit(t, e, id, id, "!hang")
	w.started(t)
	return w
}

func (w *witness) started(t *testing.T) {
	t.Helper()
	eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) > 0 })
}

// kept waits until the sender of an answer is told that it waits.
func (w *witness) kept(t *testing.T) {
	t.Helper()
	eventually(t, "word that the answer is kept", func() bool {
		return slices.ContainsFunc(seen[agent.Notice](w), func(n agent.Notice) bool { return strings.Contains(n.Text, "RUNTIME_MAX_TURNS") })
	})
}

func cancel(t *testing.T, e *rig, id string) {
	t.Helper()
	if err := e.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// TestAnswerWaitsForASlot, and is the only one that is taken.
func TestAnswerWaitsForASlot(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", narrow)
	asking := submit(t, e, "j1", "one", "!ask "+approval)
	q := asking.asked(t, 1)
	hanging(t, e, "j2")
	mustReply(t, e, "j1", q, "yes")
	asking.kept(t)
	if told := seen[agent.Answered](asking); len(told) > 0 {
		t.Errorf("told %+v while all slots are taken", told)
	}
	if err := reply(t, e, "j1", q, "no"); err == nil {
		t.Error("a second answer was taken")
	}
	cancel(t, e, "j2")
	end := asking.wait(t)
	wantEnd(t, end, agent.Completed, "")
	if !strings.Contains(said(end), `"accept"`) {
		t.Errorf("codex was told %q", said(end))
	}
	if told := seen[agent.Answered](asking); len(told) != 1 || told[0] != (agent.Answered{ID: q.ID}) {
		t.Errorf("told %+v", told)
	}
}

// TestAnswerIsKeptUntil the turn does not need it any more, or its time is up.
func TestAnswerIsKeptUntil(t *testing.T) {
	t.Parallel()
	answer := func(t *testing.T, e *rig, w *witness) {
		t.Helper()
		mustReply(t, e, "j1", w.asked(t, 1), "yes")
		w.kept(t)
	}
	for name, c := range map[string]struct {
		text    string
		happens func(*testing.T, *rig, *witness)
		outcome agent.Outcome
	}{
		"its turn is canceled": {"!ask " + approval, func(t *testing.T, e *rig, w *witness) {
			answer(t, e, w)
			cancel(t, e, "j1")
		}, agent.Canceled},
		"its answer ends the turn": {"!ask " + approval, func(t *testing.T, e *rig, w *witness) {
			mustReply(t, e, "j1", w.asked(t, 1), "cancel")
		}, agent.Completed},
		"codex withdraws the question": {"!ask-withdraw " + approval + " steered", func(t *testing.T, e *rig, w *witness) {
			answer(t, e, w)
			more := executor.Job{ID: "more", Context: "one", Input: []agent.Input{agent.Text("more")}}
			if err := e.Steer("j1", more, func(agent.Event) {}); err != nil {
				t.Error(err)
			}
		}, agent.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := onFake(t, "", narrow)
			w := submit(t, e, "j1", "one", c.text)
			q := w.asked(t, 1)
			hanging(t, e, "j2")
			c.happens(t, e, w)
			wantEnd(t, w.wait(t), c.outcome, "")
			for _, told := range seen[agent.Answered](w) {
				if told != (agent.Answered{ID: q.ID}) {
					t.Errorf("told %+v", told)
				}
			}
			if health := e.Health(); health.Questions != 0 || health.Slots.Working != 1 {
				t.Errorf("health %+v", health)
			}
		})
	}
}

// TestExpiredQuestionWaitsForASlot: it is closed in time, and codex goes on when it may.
func TestExpiredQuestionWaitsForASlot(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) {
		narrow(c)
		c.QuestionTTL = time.Second
	})
	asking := submit(t, e, "j1", "one", "!ask "+approval)
	q := asking.asked(t, 1)
	hanging(t, e, "j2")
	eventually(t, "the question to expire", func() bool { return len(seen[agent.Answered](asking)) > 0 })
	if err := reply(t, e, "j1", q, "yes"); err == nil {
		t.Error("an answer to it was taken")
	}
	eventually(t, "it to wait for the slot", func() bool { return e.Health().Slots.Returning == 1 })
	cancel(t, e, "j2")
	if end := asking.wait(t); !strings.Contains(said(end), "decline") {
		t.Errorf("codex was told %q", said(end))
	}
	if told := seen[agent.Answered](asking); len(told) != 1 || !strings.Contains(told[0].Note, "CODEX_QUESTION_TTL") {
		t.Errorf("told %+v", told)
	}
}

// TestCodexDiesWithAKeptAnswer: the answer is void, and the turn that asks anew is one at a
// time with the others.
func TestCodexDiesWithAKeptAnswer(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", narrow)
	asking := submit(t, e, "j1", "one", "!ask "+approval)
	first := asking.asked(t, 1)
	other := hanging(t, e, "j2")
	mustReply(t, e, "j1", first, "yes")
	asking.kept(t)
	_ = syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL)
	eventually(t, "the other turn to be run again", func() bool { return len(seen[agent.Started](other)) == 2 || len(seen[agent.Question](asking)) == 2 })
	if health := e.Health(); health.Slots.Working > 1 {
		t.Errorf("slots %+v", health.Slots)
	}
	if len(seen[agent.Started](other)) == 2 {
		cancel(t, e, "j2")
	}
	second := asking.asked(t, 2)
	if told := seen[agent.Answered](asking); len(told) != 1 || told[0].ID != first.ID || !strings.Contains(told[0].Note, "before it had the answer") {
		t.Errorf("told %+v", told)
	}
	cancel(t, e, "j2")
	mustReply(t, e, "j1", second, "yes")
	wantEnd(t, asking.wait(t), agent.Completed, "")
}

// TestRestartWaitsForTheQuestion: codex is not restarted for a changed login over the head
// of a turn that waits for its answer.
func TestRestartWaitsForTheQuestion(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", nil)
	w := submit(t, e, "j1", "one", "!ask "+approval)
	q := w.asked(t, 1)
	pid := e.Health().Child.Pid
	e.RestartWhenIdle("a test")
	wantEnd(t, submit(t, e, "j2", "two", "hello").wait(t), agent.Completed, "")
	if now := e.Health().Child.Pid; now != pid {
		t.Error("codex was restarted while a question was open")
	}
	mustReply(t, e, "j1", q, "yes")
	wantEnd(t, w.wait(t), agent.Completed, "")
	eventually(t, "the restart", func() bool { return e.Health().Child.Restarts == 1 })
}
