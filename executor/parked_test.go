package executor_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// narrow leaves one slot.
func narrow(c *executor.Config, _ *scripted) { c.MaxTurns = 1 }

// oneQuestion leaves one slot, and one place for a turn that waits without.
func oneQuestion(c *executor.Config, _ *scripted) { c.MaxTurns, c.MaxQuestions = 1, 1 }

// asking submits a job whose turn asks, in a context of its own, and waits for the question.
func (e *rig) asking(id string, changes ...change) (*witness, agent.Question) {
	e.t.Helper()
	e.agent.script(id, play{asks})
	w := e.submit(id, id, changes...)
	return w, has[agent.Question](w, 1)
}

// hanging submits a turn that lasts until it is canceled, in a context of its own, and waits for its start.
func (e *rig) hanging(id string, changes ...change) *witness {
	e.t.Helper()
	e.agent.script(id, play{hangs})
	return e.submit(id, id, changes...).starts()
}

// TestQuestionHoldsNoSlot: others have their turns while one waits for its answer.
func TestQuestionHoldsNoSlot(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(t *testing.T, e *rig) {
		asking, q := e.asking("j1")
		e.submit("j2", "two").completes()
		synctest.Wait()
		health := e.Health()
		if health.Questions != 1 || health.Slots.Parked != 1 || health.Slots.Working != 0 || health.Running != 1 {
			t.Errorf("health %+v", health)
		}
		e.reply("j1", q, "yes")
		asking.completes()
		synctest.Wait()
		if slots := e.Health().Slots; slots != (executor.Slots{Limit: 1}) {
			t.Errorf("at the end %+v", slots)
		}
	})
}

// TestAnswerWaitsForASlot, before those that came to the queue first.
func TestAnswerWaitsForASlot(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(t *testing.T, e *rig) {
		asking, q := e.asking("j1")
		e.hanging("j2")
		release := make(chan struct{})
		e.agent.script("j3", play{waits(release)})
		queued := e.submit("j3", "three")
		e.reply("j1", q, "yes")
		synctest.Wait()
		if told := seen[agent.Answered](asking); len(told) > 0 {
			t.Errorf("told %+v while all slots are taken", told)
		}
		if h := e.Health(); h.Slots.Returning != 1 || h.Waiting != 1 {
			t.Errorf("health %+v", h)
		}
		e.cancel("j2")
		asking.completes()
		close(release)
		queued.completes()
	})
}

// TestQuestionsBeyondTheBound keep their slots, and leave them when there is room.
func TestQuestionsBeyondTheBound(t *testing.T) {
	t.Parallel()
	simulated(t, oneQuestion, func(t *testing.T, e *rig) {
		one, first := e.asking("j1")
		two, second := e.asking("j2")
		third := e.submit("j3", "three")
		synctest.Wait()
		if h := e.Health(); h.Waiting != 1 || h.Slots.Asking != 1 || h.Slots.Full.IsZero() {
			t.Errorf("health %+v", h)
		}
		e.reply("j2", second, "yes") // it has its slot
		two.completes()
		third.completes()
		e.reply("j1", first, "yes")
		one.completes()
	})
}

// TestAnswerBeyondTheBound has its effect, also while each slot is held by a turn that asks.
func TestAnswerBeyondTheBound(t *testing.T) {
	t.Parallel()
	simulated(t, oneQuestion, func(t *testing.T, e *rig) {
		one, first := e.asking("j1")
		two, second := e.asking("j2")
		if n := e.Health().Slots.Asking; n != 1 {
			t.Errorf("%d turns hold a slot while they ask", n)
		}
		e.reply("j1", first, "yes")
		one.completes()
		e.reply("j2", second, "yes")
		two.completes()
	})
}

// TestDrainLeavesTheSlot to the turn that is answered then: what may not begin holds none.
func TestDrainLeavesTheSlot(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(t *testing.T, e *rig) {
		asking, q := e.asking("j1")
		at, over := context.WithCancel(t.Context())
		over()
		if err := e.Drain(at); err == nil {
			t.Error("a turn that waits for its answer counts for none")
		}
		late := e.submit("j2", "two")
		synctest.Wait()
		if n := e.Health().Waiting; n != 0 {
			t.Errorf("%d wait, want it to have come to the front", n)
		}
		e.reply("j1", q, "yes")
		asking.completes()
		if err := e.Drain(t.Context()); err != nil || len(seen[agent.Started](late)) > 0 {
			t.Errorf("Drain: %v; what came after it was told %+v", err, seen[agent.Started](late))
		}
	})
}

// TestSlotOfARerun: a turn that was cut off while it waited for its answer is run again when there is a slot for it.
func TestSlotOfARerun(t *testing.T) {
	t.Parallel()
	simulated(t, narrow, func(t *testing.T, e *rig) {
		asking, _ := e.asking("j1")
		release := make(chan struct{})
		e.agent.script("j2", play{waits(release)})
		other := e.submit("j2", "two").starts()
		e.agent.script("j1", nil)
		e.agent.die(false)
		synctest.Wait()
		if slots := e.Health().Slots; slots.Working != 1 || len(seen[agent.Started](asking))+len(seen[agent.Started](other)) != 3 {
			t.Errorf("slots %+v", slots)
		}
		close(release)
		asking.completes()
		other.completes()
	})
}
