package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

func TestReplyOfWhoLeft(t *testing.T) {
	for name, when := range map[string]string{"before the end": "before", "while it is written": "after"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.call("m1", "", nil, "hi")
			j := d.r.next(t)
			begun(j)
			if when == "before" {
				c.leave(t)
			}
			j.observe(finished("hello"))
			c.wait(t)
			c.receipt.Settle(false)
			if !d.due() {
				t.Errorf("owed = %+v", d.owed())
			}
		})
	}
}

// TestNothingIsOwedToOthers: agents ask again, and the platform knows what it said.
func TestNothingIsOwedToOthers(t *testing.T) {
	d := newDesk(t)
	for _, meta := range []map[string]any{{"delegation_id": "d"}, {"source_workspace_id": "w"}, {"source": "platform"}, {"source_type": "self-idle"}} {
		c := d.call("m"+strings.Join(keysOf(meta), ""), "", meta, "hi")
		j := d.r.next(t)
		begun(j)
		c.leave(t)
		j.observe(finished("hello"))
	}
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("owed = %+v", rows)
	}
}

func keysOf(m map[string]any) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// TestSentAgain has the platform send a message again whose first connection broke. One
// that marks its user's messages shows him that answer, and one that does not, does not.
// The marked message is sent again while its turn still waits, too.
func TestSentAgain(t *testing.T) {
	for name, meta := range map[string]map[string]any{"marked": {"source": "canvas_user"}, "marked-waiting": {"source": "canvas_user"}, "not": nil} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			first := d.call("m1", "", meta, "hi")
			j := d.r.next(t)
			if name != "marked-waiting" {
				begun(j)
			}
			first.leave(t)
			second := d.call("m1", "", meta, "hi")
			for range 100 { // until it waits, most likely
				time.Sleep(time.Millisecond)
			}
			j.observe(finished("hello"))
			second.wait(t)
			if text := reply.Of(second.task).Parts[0].Text(); text != "hello" {
				t.Errorf("the second is answered %q", text)
			}
			second.receipt.Settle(true)
			if owed := len(d.owed()); owed != 1 && meta == nil || owed != 0 && meta != nil {
				t.Errorf("owed = %+v", d.owed())
			}
		})
	}
}

// TestSentAgainWhileTheFirstWaits: the first gets it, and that is all.
func TestSentAgainWhileTheFirstWaits(t *testing.T) {
	d := newDesk(t)
	first := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	second := d.call("m1", "", nil, "hi")
	j.observe(finished("hello"))
	first.wait(t)
	second.wait(t)
	second.receipt.Settle(true)
	first.receipt.Settle(true)
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("owed = %+v", rows)
	}
}

// TestSteeredAnswerOfWhoLeft goes to the user, although he was told that it will.
func TestSteeredAnswerOfWhoLeft(t *testing.T) {
	d := newDesk(t)
	first := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	first.leave(t)
	second := d.call("m2", "", map[string]any{"history": []any{}}, "and that")
	second.wait(t)
	second.receipt.Settle(true)
	j.observe(agent.Ended{Outcome: agent.Completed, Taken: []string{d.r.steered[0]}, Messages: []agent.Message{{ItemID: "m", Text: "both"}}})
	if !d.due() {
		t.Errorf("owed = %+v", d.owed())
	}
}

// TestQuestionIsAnAnswer has the caller get the question, and what comes later go to
// the user when nobody waits.
func TestQuestionIsAnAnswer(t *testing.T) {
	d := newDesk(t)
	c := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	j.observe(agent.Question{ID: "q", Kind: "command", Text: "may I?"})
	c.wait(t)
	if text := reply.Of(c.task).Parts[0].Text(); !strings.Contains(text, "may I?") {
		t.Errorf("the caller gets %q", text)
	}
	c.receipt.Settle(true)
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("owed = %+v", rows)
	}
	j.observe(agent.Answered{ID: "q"})
	j.observe(finished("done without"))
	if !d.due() {
		t.Errorf("owed = %+v", d.owed())
	}
}

// TestLoginIsAskedForOnce of a user whom nobody waits for, though its code changes.
func TestLoginIsAskedForOnce(t *testing.T) {
	d := newDesk(t)
	c := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	c.leave(t)
	hold := agent.Paused{Kind: agent.FailAuth, Text: "log in with code one"}
	j.observe(hold)
	rows := d.owed()
	if !d.due() {
		t.Fatalf("owed = %+v", rows)
	}
	if err := d.st.FinishDelivery(t.Context(), rows[0].ID); err != nil {
		t.Fatal(err)
	}
	hold.Text = "log in with code two"
	j.observe(hold)
	if rows := d.owed(); len(rows) != 0 {
		t.Errorf("owed = %+v", rows)
	}
	j.observe(agent.Resumed{})
	begun(j)
	j.observe(finished("hello"))
	if !d.due() {
		t.Errorf("owed = %+v", d.owed())
	}
}

// TestFullJournal keeps a reply until it can be kept for good, and one that has arrived
// meanwhile goes nowhere.
func TestFullJournal(t *testing.T) {
	for name, arrives := range map[string]bool{"heard": true, "not": false} {
		t.Run(name, func(t *testing.T) {
			broken := &brokenJournal{}
			d := newDesk(t, func(c *tasks.Config) {
				broken.Journal = c.Journal
				c.Journal = broken
			})
			c := d.call("m1", "", nil, "hi")
			j := d.r.next(t)
			begun(j)
			broken.broken.Store(true)
			j.observe(finished("hello"))
			c.wait(t)
			c.receipt.Settle(arrives)
			broken.broken.Store(false)
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				row, err := d.st.Task(t.Context(), string(c.task.ID))
				if err == nil && row.Ended {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the end is not saved")
				}
			}
			if rows := d.owed(); len(rows) != 0 && arrives || !arrives && !d.due() {
				t.Errorf("owed = %+v", d.owed())
			}
		})
	}
}
