package tasks

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/progress"
)

// Progress stays in the journal until its task has ended, and there is as much of it as the
// model wants: a script of its calls tools, and changes its plan, a thousand times a second.
// Room that it took from ended tasks would have these forgotten.
const (
	mostProgress = 16 << 20 // bytes of a task
	mostNotices  = 1 << 20  // and of its notices, which say what was declined, and why
)

// noMore is told in place of the first that is too much.
const noMore = "The task has told so much of its progress that no more of that is shown. It goes on, and its answer will be here."

// tell publishes progress, which changes nothing about the task, while there is room for it.
func (t *state) tell(data map[string]any) {
	told, most := &t.progressed, mostProgress
	if data["type"] == "notice" {
		told, most = &t.noticed, mostNotices
	}
	if *told > most {
		return
	}
	if *told += progress.Weight(data); *told > most {
		data = map[string]any{"type": "notice", "text": noMore}
	}
	if kind := data["type"]; kind == "plan" || kind == "reasoning" {
		t.says()
	}
	t.publish(t.progress(data))
}

// progress is the event that tells of progress.
func (t *state) progress(data map[string]any) a2a.Event {
	return &a2a.TaskStatusUpdateEvent{
		TaskID: t.id, ContextID: t.contextID,
		Status: a2a.TaskStatus{
			State: t.status.State, Timestamp: now(),
			Message: t.message(a2a.NewDataPart(data)),
		},
	}
}
