package executor_test

import (
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestJournalBeforeTheAgent has a full disk: nothing reaches the agent before the attempt
// stands in the journal, and the job keeps its place.
func TestJournalBeforeTheAgent(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.journal.fills(true)
		first := e.submit("j1", "one")
		has[agent.Notice](first, 1)
		second := e.submit("j2", "one")
		synctest.Wait()
		if order := e.agent.order(); len(order) > 0 {
			t.Errorf("the agent has %v, and the journal has not", order)
		}
		e.journal.fills(false)
		first.completes()
		second.completes()
		if got := e.journal.attempts; len(got) != 2 || got[0].Job != "j1" || got[0].N != 1 || got[1].Job != "j2" || got[0].Thread == "" || got[0].Conversation != "one" {
			t.Errorf("attempts = %+v", got)
		}
		if n := len(seen[agent.Notice](first)); n != 1 {
			t.Errorf("the sender was told %d times", n)
		}
	})
}

// TestJournalThatDoesNotWork lets a job that waits for it be canceled, and Close end it.
func TestJournalThatDoesNotWork(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.journal.fills(true)
		canceled, closed := e.submit("j1", "one"), e.submit("j2", "two")
		has[agent.Notice](canceled, 1)
		has[agent.Notice](closed, 1)
		e.cancel("j1")
		canceled.ends(agent.Canceled, "")
		e.close()
		if end := closed.ends(agent.Interrupted, agent.FailShutdown); end.Tools {
			t.Error("it never began, but is said to have used tools")
		}
	})
}
