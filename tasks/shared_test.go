package tasks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

func TestReaderWhoBreaksOff(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	for event, err := range e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")) {
		if err != nil || event.TaskInfo().TaskID == "" {
			t.Fatalf("first event = %v, %v", event, err)
		}
		break
	}
	r.next(t).start().answer("done")
}

// TestCallersOwnTheirTask lets a caller add to the task that it got.
func TestCallersOwnTheirTask(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	id := begin(t, e, request("m1", "c", "hi")).ID
	for i := range 8 {
		mine := get(t, e, id)
		mine.History = append(mine.History, message("mine", "mine"))
		mine.Artifacts = append(mine.Artifacts, &a2a.Artifact{ID: "mine"})
		mine.Status.State = a2a.TaskStateRejected
		req := request(fmt.Sprintf("f%d", i), "", "more")
		req.Message.TaskID = id
		if now := begin(t, e, req); len(now.History) != i+2 || mine.History[i+1].ID != "mine" || now.Status.State != a2a.TaskStateSubmitted {
			t.Fatalf("after %d messages: %d in the history, and the caller's own is %q", i+2, len(now.History), mine.History[i+1].ID)
		}
	}
}

// TestPublishedEventsAreImmutable keeps what was published and looks at it again
// in the end.
func TestPublishedEventsAreImmutable(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r, func(c *tasks.Config) { c.Coalesce = time.Nanosecond })
	task := begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	watcher := follow(t, e, task.ID)
	var snapshots []*a2a.Task
	var then []string
	for i := range 200 {
		j.say(fmt.Sprintf("a%d", i/50), fmt.Sprintf("%d ", i))
		snapshots = append(snapshots, get(t, e, task.ID))
		then = append(then, fmt.Sprint(texts(snapshots[i]), snapshots[i].Metadata, snapshots[i].Status.State))
	}
	seen := showAll(watcher.seen())
	j.whole("a0", "replaced", agent.PhaseFinalAnswer)
	j.end(agent.Ended{Outcome: agent.Completed, Usage: agent.Usage{TotalTokens: 1}})
	for i, s := range snapshots {
		if now := fmt.Sprint(texts(s), s.Metadata, s.Status.State); now != then[i] {
			t.Fatalf("snapshot %d was %s and is %s", i, then[i], now)
		}
	}
	if now := showAll(watcher.wait(t)); !strings.HasPrefix(now, seen) {
		t.Error("events have changed after they were published")
	}
}
