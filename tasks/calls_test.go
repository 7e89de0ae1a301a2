package tasks_test

import (
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// calls are how the requests to the model went by the metadata, or the data, of something.
func calls(of map[string]any) (count, first any) {
	data, _ := of[keys.ModelCalls].(map[string]any)
	return data["count"], data["firstByteSeconds"]
}

// TestModelCallsOfATask: the end of a turn says how its requests to the model went. None is told by itself.
func TestModelCallsOfATask(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	one := r.next(t).start()
	watcher := follow(t, e, task.ID)
	further := request("m2", "", "two")
	further.Message.TaskID = task.ID
	begin(t, e, further)
	one.observe(agent.ModelCalled{First: time.Second, Took: time.Second, Status: 200}) // of an attempt that is void
	one.attempt(2)
	one.observe(agent.ModelCalled{First: 2 * time.Second, Took: 3 * time.Second, Status: 200})
	one.observe(agent.ModelCalled{First: 9 * time.Second, Took: 9 * time.Second, Status: 200})
	one.answer("1")
	two := r.next(t).start()
	if now := get(t, e, task.ID); now.Metadata[keys.ModelCalls] != nil {
		t.Errorf("while a turn runs there is %v", now.Metadata[keys.ModelCalls])
	}
	two.observe(agent.ModelCalled{First: 4 * time.Second, Took: 5 * time.Second, Status: 200})
	two.answer("2")
	if count, first := calls(get(t, e, task.ID).Metadata); count != 1.0 || first != 4.0 {
		t.Errorf("the task has %v requests, the first answered after %v s", count, first)
	}
	var between, told int
	for _, event := range watcher.wait(t) {
		update, ok := event.(*a2a.TaskStatusUpdateEvent)
		if !ok {
			continue
		}
		if count, first := calls(update.Metadata); count != nil {
			if told++; count != 1.0 || first != 4.0 || update.Status.State != a2a.TaskStateCompleted {
				t.Errorf("%s has %v requests, the first answered after %v s", update.Status.State, count, first)
			}
		}
		if update.Status.Message == nil {
			continue
		}
		data, _ := update.Status.Message.Parts[0].Data().(map[string]any)
		if count, first := calls(data); count != nil {
			if between++; data["type"] != "turn" || count != 2.0 || first != 2.0 {
				t.Errorf("told is %v", data)
			}
		}
	}
	if between != 1 || told != 1 {
		t.Errorf("%d turns that the task went on after, and %d ends, say how their requests went", between, told)
	}
}

// TestNoModelCalls: where they cannot be seen nothing is said.
func TestNoModelCalls(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "one"))
	watcher := follow(t, e, task.ID)
	r.next(t).start().answer("1")
	watcher.wait(t)
	if said, ok := get(t, e, task.ID).Metadata[keys.ModelCalls]; ok {
		t.Errorf("said is %v", said)
	}
}
