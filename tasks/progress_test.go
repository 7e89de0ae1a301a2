package tasks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestBoundsOfProgress, of one event and of a task: what a turn goes on to tell leaves room
// for what else the journal has.
func TestBoundsOfProgress(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := r.next(t).start()
	plan := agent.PlanUpdated{Explanation: strings.Repeat("e", 100_000)}
	for range 1000 {
		plan.Steps = append(plan.Steps, agent.PlanStep{Step: strings.Repeat("s", 100_000), Status: "pending"})
	}
	for range 200 { // some 100 KiB of each are told
		j.observe(plan)
	}
	j.observe(agent.Notice{Text: "declined"}) // which has room of its own
	j.answer("done")
	all, largest, plans, notices := 0, 0, 0, 0
	events := stream.wait(t)
	for _, event := range events {
		update, ok := event.(*a2a.TaskStatusUpdateEvent)
		if !ok || update.Status.Message == nil {
			continue
		}
		text, err := json.Marshal(update)
		if err != nil {
			t.Fatal(err)
		}
		all, largest = all+len(text), max(largest, len(text))
		data, _ := update.Status.Message.Parts[0].Data().(map[string]any)
		switch said, _ := data["text"].(string); {
		case data["type"] == "plan":
			plans++
			if fmt.Sprint(data["more"]) != "900" { // a float for a reader who is behind, and reads it from the journal
				t.Fatalf("of a plan %v steps more are told of, want 900", data["more"])
			}
		case strings.Contains(said, "no more of that is shown"), said == "declined":
			notices++
		}
	}
	if all > 20<<20 || largest > 200<<10 || plans < 100 || notices != 2 {
		t.Errorf("%d bytes were told, at most %d at once, %d plans and %d notices", all, largest, plans, notices)
	}
	if got := show(events[len(events)-1]); got != "status completed" {
		t.Errorf("the stream ends with %q", got)
	}
}
