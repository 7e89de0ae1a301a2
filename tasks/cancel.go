package tasks

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// CancelTask implements a2asrv.RequestHandler. It returns when the task has
// ended. A caller who leaves before that does not stop the cancel. Of a task that was
// canceled before, 1.0 has the cancel say so again, and 0.3 has it refused.
func (e *Engine) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if req == nil || req.ID == "" {
		return nil, refusal.New(a2a.ErrInvalidParams, "the id of the task is missing")
	}
	v, err := e.cancel(ctx, req.ID, e.sender(&a2a.Message{}, req.Metadata))
	if err == nil {
		err = e.load(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	e.yield(ctx)
	task, err := v.ended(ctx)
	if err != nil {
		return nil, err
	}
	if !task.Status.State.Terminal() { // it is left to the next process, which cancels it
		return nil, errGone
	}
	late := v.task.Status.State.Terminal() && version(ctx) == push.V0
	if state := task.Status.State; state != a2a.TaskStateCanceled || late {
		return nil, refusal.InState(a2a.ErrTaskNotCancelable, task, "task %q has ended already (%s)", task.ID, state)
	}
	return trimmed(task, nil), nil
}

// cancel begins to end a task, if it has not ended, and returns it as it was before. The
// caller still has to load one that has.
func (e *Engine) cancel(ctx context.Context, id a2a.TaskID, by origin.Sender) (*view, error) {
	t := e.live.find(id)
	if t == nil { // it may just be accepted
		passed := e.admit.alone()
		t = e.live.find(id)
		passed()
	}
	if t != nil {
		// Nothing of the task is being submitted meanwhile, so each turn of it is either with the runner
		// or refused.
		defer e.admit.pass(e.lane(t.conversation))()
		t = e.live.find(id)
	}
	if err := e.reachable(ctx, by, id, t); err != nil {
		return nil, err
	}
	if t == nil {
		return e.look(ctx, id)
	}
	if e.root.Err() != nil {
		return nil, errGone
	}
	v := t.view()
	e.cancelTask(t)
	return v, nil
}

// cancelTask begins to end a task that has not ended. Its caller passes meanwhile (admission.go).
func (e *Engine) cancelTask(t *task) {
	jobs := t.cancel()
	e.wg.Go(func() { e.cancelJobs(t, jobs) })
}

// cancel refuses further messages and returns the jobs to end, those that wait
// before the one that runs: none of them must start.
func (t *task) cancel() []string {
	t.lock()
	defer t.unlock()
	if !t.canceling {
		t.canceling = true
		row := t.row()
		t.save(store.Change{Head: &row}) // a crash does not take it back
	}
	if len(t.runs) == 0 && t.anyStale() { // nothing of it runs
		t.canceled = true
		t.ending = &ending{state: a2a.TaskStateCanceled}
		t.end(store.Change{})
		return nil
	}
	jobs := make([]string, 0, len(t.runs))
	for _, r := range slices.Backward(t.runs) {
		jobs = append(jobs, r.jobID)
	}
	return jobs
}

func (e *Engine) cancelJobs(t *task, jobs []string) {
	for _, id := range jobs {
		if err := e.cfg.Runner.Cancel(e.root, id); err != nil {
			e.log.Warn("a turn could not be canceled", "task_id", t.id, "job_id", id, "err", err)
		}
	}
}

// ended waits for the end of the task.
func (v *view) ended(ctx context.Context) (*a2a.Task, error) {
	if v.of == nil {
		return v.task, nil
	}
	if err := v.of.engine.wait(ctx, v.of.over); err != nil {
		return nil, err
	}
	return v.of.peek(), nil
}
