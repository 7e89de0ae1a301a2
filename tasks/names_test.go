package tasks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// wantIDs compares the ids of a task's artifacts.
func wantIDs(t *testing.T, task *a2a.Task, want ...string) {
	t.Helper()
	var got []string
	for _, a := range task.Artifacts {
		got = append(got, string(a.ID))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
}

// message says a message that has begun before, as codex does.
func (j *job) message(item, text, phase string) {
	j.observe(agent.ItemStarted{Item: agent.Item{Kind: agent.KindMessage, ID: item, Phase: phase}})
	j.whole(item, text, phase)
}

// cpu is the CPU time that this process has taken.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestManyMessagesOfOneID: the work for one of them does not grow with the number of those
// before it. If it did, they would take minutes. CPU time is measured, since a busy machine takes longer by the clock.
func TestManyMessagesOfOneID(t *testing.T) {
	const messages, most = 8_000, 30 * time.Second
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m", "c", "hi"))
	j := r.next(t).start()
	began := cpu(t)
	for i := range messages {
		if j.message("msg_x", "x", ""); i%100 == 0 && cpu(t)-began > most {
			t.Fatalf("after %v %d of %d messages have come", most, i+1, messages)
		}
	}
	j.end(agent.Ended{Outcome: agent.Completed})
	if n := len(get(t, e, task.ID).Artifacts); n != messages {
		t.Errorf("the task has %d artifacts, want %d", n, messages)
	}
}

// TestIDsThatComeAgain have the smallest number from 2 on that is not there, whatever the
// model itself calls its messages.
func TestIDsThatComeAgain(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m", "c", "hi"))
	j := r.next(t).start()
	for _, id := range []string{"x", "x-3", "x", "x", "x-3", "x-2", "y", "y"} {
		j.message(id, "said", "")
	}
	j.end(agent.Ended{Outcome: agent.Completed})
	wantIDs(t, get(t, e, task.ID), "x", "x-3", "x-2", "x-4", "x-3-2", "x-2-2", "y", "y-2")
}

// TestIDTakenBackIsFree: the diff that is shown again has the id that it had.
func TestIDTakenBackIsFree(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m", "c", "hi"))
	j := r.next(t).start()
	j.message("diff", "a message of that id", "commentary")
	for i, diff := range []string{"+one", "", "+two"} {
		j.observe(agent.DiffUpdated{Diff: diff})
		j.message(fmt.Sprint("m", i), "said", "commentary")
	}
	j.message("diff", "another one", "final_answer")
	j.end(agent.Ended{Outcome: agent.Completed, Diff: "+two"})
	wantIDs(t, get(t, e, task.ID), "diff", "m0", "m1", "diff-2", "m2", "diff-3")
}

// TestIDsOverARestart: those that stand in the journal are taken.
func TestIDsOverARestart(t *testing.T) {
	m := newMachine(t)
	id := begin(t, m.e, request("m1", "c", "hi")).ID
	more := request("m2", "c", "more")
	more.Message.TaskID = id
	begin(t, m.e, more)
	j := m.r.next(t).start()
	for range 3 {
		j.message("x", "said", "")
	}
	j.end(agent.Ended{Outcome: agent.Completed})
	m.save(id)
	m.restart()
	j = m.r.next(t).start()
	j.message("x", "said", "")
	j.message("x-2", "said", "")
	j.end(agent.Ended{Outcome: agent.Completed})
	wantIDs(t, get(t, m.e, id), "x", "x-2", "x-3", "x-4", "x-2-2")
}
