package tasks

import (
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/progress"
)

// end settles the run, and the task with it if no other turn of it waits.
func (r *run) end(event agent.Ended) {
	t := r.task
	if parks(event) || r.leftWithQuestion(event) {
		t.parkTaken(event.Taken)
		r.park()
		return
	}
	r.settleDiff(event)
	reply := r.settleText(event)
	r.finish()
	r.measure(event)
	r.leave()
	if reply != nil {
		t.putBehind(reply.text.Len())
	}
	change := r.done(event)
	r.unbegun(&change)
	t.canceled = t.canceled || event.Outcome == agent.Canceled
	t.ending = endingOf(event, reply)
	t.ending.meta[keys.Usage] = progress.Usage(t.meta, event.Usage)
	t.ending.meta[keys.Tools], t.ending.meta[keys.ModelCalls] = r.toolTrace(), r.calls.Data()
	if len(t.runs) == 0 && (t.canceling || !t.anyStale()) {
		t.canceled = t.canceled || t.anyStale() // what is still asked ends with the cancel
		t.end(change)
		return
	}
	t.note(t.ending.meta)
	t.dropQuestions("", func(q *question) bool { return q.run == r })
	t.commit(change, t.progress(progress.Turn(event.Outcome, t.ending.text, &r.calls)))
	if len(t.runs) == 0 { // only its caller can bring it on
		t.pose(store.Change{})
		return
	}
	if t.runs[0].waits != nil { // it was told when it had no say
		t.stand()
	}
}

// done is what the journal notes of the end of the run's message, and of those that
// its turn has taken.
func (r *run) done(event agent.Ended) store.Change {
	answered := append(slices.Clone(r.answers), r.task.settleTaken(event.Taken)...)
	change := store.Change{Ended: append([]string{r.jobID}, event.Taken...), Drop: answered}
	if event.Outcome == agent.Interrupted {
		change.Cut = change.Ended
	}
	return change
}

// park lets go of the run and leaves its message where it is, in the journal's queue.
func (r *run) park() {
	t := r.task
	r.pushRest()
	r.finish()
	r.leave()
	if len(t.runs) > 0 {
		return
	}
	t.disarmSave()
	t.disarmExpiry()
	if t.rec.dirty() {
		t.save(store.Change{})
	}
	t.engine.log.Info("a task goes on when the runtime is back", "task_id", t.id)
	t.engine.forget(t)
	t.sync()
	close(t.over)
}

// parkTaken leaves to the next process what a turn has taken that is left to it: it finds out how far
// that turn got.
func (t *state) parkTaken(jobs []string) {
	for _, r := range slices.Clone(t.runs) {
		if slices.Contains(jobs, r.jobID) {
			r.park()
		}
	}
}

// settleText closes the messages of the turn and returns the one that is the
// reply: the last of the final phase, else the last that is no commentary, else
// the last. It is nil if there is no text at all.
func (r *run) settleText(event agent.Ended) *artifact {
	for _, m := range event.Messages {
		r.whole(m)
	}
	r.texts = slices.DeleteFunc(r.texts, func(a *artifact) bool {
		if a.before == nil || a.text.Len() > 0 {
			return false
		}
		r.void = append(r.void, a.before) // it came to nothing
		return true
	})
	r.settleVoid(event.Outcome == agent.Completed)
	var reply *artifact
	for _, a := range r.texts {
		if a.cutOff() {
			r.replace(a, a.fitted(""))
		}
		if a.text.Len() > 0 && (reply == nil || rank(a) >= rank(reply)) {
			reply = a
		}
	}
	r.hand(reply, r.offered)
	for _, a := range r.texts {
		if !a.closed && a.text.Len() > 0 {
			r.task.push(a, true)
		}
	}
	return reply
}

// settleVoid deals with what an earlier attempt has shown and this one has put
// nothing in the place of. A whole answer stands alone; in any other case it is
// better than nothing.
func (r *run) settleVoid(whole bool) {
	t := r.task
	for _, a := range r.void {
		if a.hands() { // it was made, whatever else became of the attempt
			continue
		}
		if !whole {
			if a.name == keys.NameMessage {
				r.texts = append(r.texts, a)
			}
			continue
		}
		t.takeBack(a)
	}
	r.void = nil
}

// measure counts the end of the turn, and leaves word of it for the log.
func (r *run) measure(event agent.Ended) {
	e, u := r.task.engine, event.Usage
	var took time.Duration
	if !r.started.IsZero() {
		took = time.Since(r.started)
		e.cfg.Metrics.TurnEnded(string(event.Outcome), took)
	}
	e.cfg.Metrics.Tokens(u.InputTokens, u.CachedInputTokens, u.OutputTokens, u.ReasoningOutputTokens)
	attrs := []any{
		"task_id", string(r.task.id), "context_id", r.task.contextID, "job_id", r.jobID,
		"outcome", string(event.Outcome), "took", took, "tokens", u.TotalTokens,
	}
	if id := keys.TraceID(r.message); id != "" {
		attrs = append(attrs, "trace_id", id)
	}
	if r.machine != "" {
		attrs = append(attrs, "machine", r.machine)
	}
	r.report = func() {
		if f := event.Failure; f != nil && f.Kind != agent.FailShutdown { // being told to stop is no news
			e.log.Warn("turn failed", append(attrs, "kind", string(f.Kind), "timer", f.Timer, "code", f.Code, "reason", f.Message)...)
			return
		}
		e.log.Info("turn ended", attrs...)
	}
}
