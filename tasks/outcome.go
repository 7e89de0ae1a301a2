package tasks

import (
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/progress"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
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
	t.ending.meta[keys.Tools] = r.toolTrace()
	if len(t.runs) == 0 && !t.anyStale() {
		t.end(change)
		return
	}
	t.note(t.ending.meta)
	t.dropQuestions("", func(q *question) bool { return q.run == r })
	t.commit(change,
		t.progress(map[string]any{"type": "turn", "outcome": string(event.Outcome), "text": brief.Clip(t.ending.text, progress.TailSize)}))
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

// leave takes the run out of its task.
func (r *run) leave() {
	r.isBehind()
	r.task.putBehind(r.weight)
	r.task.runs = slices.DeleteFunc(r.task.runs, func(other *run) bool { return other == r })
}

// parks reports whether a message is left to the next process: this one stops,
// and no tool of its turn has done anything yet. One whose turn waits for an
// answer is left to it in any case, with its question.
func parks(event agent.Ended) bool { return stops(event) && !event.Tools }

func stops(event agent.Ended) bool {
	return event.Failure != nil && event.Failure.Kind == agent.FailShutdown
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

// parkTaken leaves to the next process what a turn has taken that is left to it: it
// finds out how far that turn got. The caller holds t.mu.
func (t *task) parkTaken(jobs []string) {
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

// takeBack takes an artifact out of the task again, and says so. That is no last chunk of
// anything: it may come behind that of the answer. The caller holds t.mu.
func (t *task) takeBack(a *artifact) {
	if i := slices.Index(t.artifacts, a); i >= 0 {
		t.remove(i)
	}
	gone := &a2a.TaskArtifactUpdateEvent{
		TaskID: t.id, ContextID: t.contextID, Artifact: a.chunk("", nil), Metadata: map[string]any{keys.Void: true},
	}
	if a.closed && len(t.pushes) > 0 {
		t.notify(gone, false)
	}
	t.publish(gone)
}

func rank(a *artifact) int { return rankOf(a.phase) }

func rankOf(phase string) int {
	switch phase {
	case agent.PhaseFinalAnswer:
		return 2
	case agent.PhaseCommentary:
		return 0
	}
	return 1
}

// replyLast puts the artifact with the reply behind the others: there are readers that
// take the last one for the answer. The caller holds t.mu.
func (t *task) replyLast() {
	id, _ := t.meta[keys.Reply].(string)
	i := t.indexOf(a2a.ArtifactID(id))
	if i >= 0 && i < len(t.artifacts)-1 {
		reply := t.artifacts[i]
		t.artifacts = append(slices.Delete(t.artifacts, i, i+1), reply)
		t.reordered = true
		t.touch()
	}
}

// endingOf says what the end of a turn would make of its task.
func endingOf(event agent.Ended, said *artifact) *ending {
	end := &ending{meta: map[string]any{keys.Failure: nil, keys.Reply: nil, keys.Held: nil}}
	if said != nil {
		end.meta[keys.Reply] = string(said.id)
	}
	switch event.Outcome {
	case agent.Completed:
		end.state = a2a.TaskStateCompleted
		if said == nil || strings.TrimSpace(said.text.String()) == "" { // else it stands in its artifact, and only there: readers show both
			end.text = reply.Empty
		}
		return end
	case agent.Canceled:
		end.state = a2a.TaskStateCanceled
		return end
	case agent.Interrupted:
		end.meta[keys.Interrupted] = true
	}
	end.state = a2a.TaskStateFailed
	if event.Outcome == agent.Rejected {
		end.state = a2a.TaskStateRejected
	}
	failure := event.Failure
	if failure == nil {
		failure = &agent.Failure{Kind: agent.FailModel, Message: "codex failed without saying why; send the message again"}
	}
	end.text = failure.Message
	end.meta[keys.Failure] = progress.Failure(failure)
	return end
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
	r.report = func() {
		if f := event.Failure; f != nil && f.Kind != agent.FailShutdown { // being told to stop is no news
			e.log.Warn("turn failed", append(attrs, "kind", string(f.Kind), "timer", f.Timer, "code", f.Code, "reason", f.Message)...)
			return
		}
		e.log.Info("turn ended", attrs...)
	}
}
