package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// Recover takes up what an earlier process left unfinished: each message that
// has not had its turn gets its place in the queue back, in the order of their
// acceptance. It must be called before anything is sent to the engine.
func (e *Engine) Recover(ctx context.Context) error {
	defer e.admit.alone()()
	open, err := e.cfg.Journal.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("recover the tasks: %w", err)
	}
	gone, err := e.elsewhere(ctx)
	if err != nil {
		return fmt.Errorf("recover the tasks: %w", err)
	}
	var waiting []*run
	for _, pending := range open {
		runs, err := e.recoverTask(ctx, pending, gone)
		if err != nil {
			if ctx.Err() != nil { // it is told to stop, and the next one reads the task
				return fmt.Errorf("recover the tasks: %w", err)
			}
			if err := e.condemn(ctx, pending, err); err != nil {
				return fmt.Errorf("recover the tasks: %w", err)
			}
			continue
		}
		waiting = append(waiting, runs...)
	}
	slices.SortFunc(waiting, func(a, b *run) int { return cmp.Compare(a.recovered.Seq, b.recovered.Seq) })
	for i, r := range waiting {
		if r.command != "" {
			e.obeyAgain(r, waiting[:i])
		} else {
			e.submitAgain(r)
		}
	}
	if len(open) > 0 {
		e.log.Info("took up what was left unfinished", "tasks", len(open), "messages", len(waiting))
	}
	return nil
}

// recoverTask brings a task back to life and returns its turns to come. One that
// has ended stays so: what still waits of it was answers to questions. The jobs that are gone
// were answered elsewhere.
func (e *Engine) recoverTask(ctx context.Context, pending store.Pending, gone map[string]bool) ([]*run, error) {
	if pending.Task.Ended {
		return nil, e.settleMessages(ctx, pending.Messages)
	}
	t, err := e.revive(pending.Task)
	if err != nil {
		return nil, err
	}
	if e.cfg.Push != nil {
		if t.pushes, err = e.receivers(ctx, t.id); err != nil {
			return nil, err
		}
	}
	marks, err := t.replay(ctx, pending.Task.LastSeq)
	if err != nil {
		return nil, err
	}
	withdrawn, err := withdraw(&pending, gone)
	if err != nil {
		return nil, err
	}
	left, carries, err := t.takeUp(pending)
	if err != nil {
		return nil, err
	}
	for i := range left {
		r, err := t.rejoin(&left[i])
		if err != nil {
			return nil, err
		}
		t.noteAttempt(r)
		if r.from.Answers() {
			r.carry(carries[r.jobID])
		} else {
			t.questions = append(t.questions, carries[r.jobID]...)
		}
		if from, ok := marks[r.number()]; ok {
			r.void = slices.Clone(t.artifacts[from:])
		}
	}
	e.live.add(t)
	runs := t.runs
	t.lock()
	defer t.unlock()
	t.countPast()
	t.countTexts(true)
	t.poseStale()
	t.settleElsewhere(withdrawn)
	if len(t.runs) == 0 && len(t.questions) == 0 && !t.status.State.Terminal() {
		t.abandon()
	}
	return runs, nil
}

// condemn ends a task that cannot be read, so that it does not keep the others
// from going on. That is all that is left of it.
func (e *Engine) condemn(ctx context.Context, pending store.Pending, why error) error {
	id := pending.Task.ID
	e.log.Error("a task in the state database cannot be read; it ends as interrupted", "task_id", id, "err", why)
	status := a2a.TaskStatus{State: a2a.TaskStateFailed, Timestamp: now(), Message: a2a.NewMessage(a2a.MessageRoleAgent,
		a2a.NewTextPart("the runtime could not read what it had kept of this task; its log says why"))}
	row := pending.Task.Head
	row.State, row.At, row.Ended = string(status.State), statusTime(status), true
	row.Body = codec.Encode(head{Status: status, Metadata: map[string]any{keys.Interrupted: true}})
	change := store.Change{Head: &row, Artifacts: [][]byte{}}
	for _, m := range pending.Messages {
		change.Ended = append(change.Ended, m.Job)
	}
	change.Cut = change.Ended
	return e.cfg.Journal.Write(ctx, change)
}

func (e *Engine) settleMessages(ctx context.Context, messages []store.Message) error {
	var settled store.Change
	for _, m := range messages {
		settled.Ended = append(settled.Ended, m.Job)
	}
	return e.cfg.Journal.Write(ctx, settled)
}

// revive makes a task of its row. What it shows from now on is of a new epoch:
// the process before may have shown more than it committed.
func (e *Engine) revive(row store.Task) (*task, error) {
	h, err := readHead(row.Head)
	if err != nil {
		return nil, fmt.Errorf("task %s in the journal: %w", row.ID, err)
	}
	history, err := codec.DecodeAll(row.History, codec.UnreadMessage)
	e.unread(row.ID, err)
	t := e.newTask(a2a.TaskID(row.ID), row.Context, row.Conversation)
	t.status, t.meta, t.history = h.Status, h.Metadata, history
	if t.status.State == a2a.TaskStateAuthRequired { // that was the process before, and so was the code it gave
		t.status = a2a.TaskStatus{State: a2a.TaskStateSubmitted, Timestamp: h.Status.Timestamp}
	}
	t.turns, t.canceling, t.told = h.Turns, h.Canceling, cmp.Or(h.Told, h.Status.State)
	t.owed, t.words.gone, t.words.unseen, t.promised, t.sorted = h.Owed, h.lapse, h.Unseen, h.Promised, h.Sorted
	t.messages = h.Messages + int(row.LastSeq) // no id is given twice
	t.epoch = max(row.Epoch, 1) + 1            // an older version accepted tasks without one
	t.feed = feed.New(t.TaskInfo(), feed.Cursor{Epoch: row.Epoch, Seq: row.LastSeq}, t.face())
	return t, nil
}

// replay makes the artifacts again from the task's events. It returns how many
// there were when the first turn of each message began, by the messages' numbers.
func (t *state) replay(ctx context.Context, last int64) (map[float64]int, error) {
	marks := map[float64]int{}
	for seq := int64(0); seq < last; {
		batches, err := t.engine.cfg.Journal.Events(ctx, string(t.id), seq, eventPage)
		if err != nil {
			return nil, err
		}
		if len(batches) == 0 {
			break
		}
		for _, batch := range batches {
			events, err := codec.DecodeEvents(codec.WithoutWords(batch.Body), t.TaskInfo())
			if err != nil {
				return nil, err
			}
			for _, event := range events {
				t.apply(event, marks)
			}
			seq = batch.Last
		}
	}
	return marks, nil
}

// apply does to the artifacts what an event says.
func (t *state) apply(event a2a.Event, marks map[float64]int) {
	switch event := event.(type) {
	case *a2a.TaskStatusUpdateEvent:
		if id, ok := event.Metadata[keys.Message].(float64); ok {
			if _, seen := marks[id]; !seen {
				marks[id] = len(t.artifacts)
			}
		}
	case *a2a.TaskArtifactUpdateEvent:
		t.applyArtifact(event, marks)
	}
}

func (t *state) applyArtifact(event *a2a.TaskArtifactUpdateEvent, marks map[float64]int) {
	shown := event.Artifact
	i := t.indexOf(shown.ID)
	if event.Metadata[keys.Void] == true {
		if i >= 0 {
			t.remove(i)
			for id, from := range marks {
				if from > i {
					marks[id] = from - 1
				}
			}
		}
		return
	}
	if len(shown.Parts) == 0 {
		return
	}
	if i < 0 {
		t.newArtifact(string(shown.ID), shown.Name)
		i = len(t.artifacts) - 1
	}
	a := t.artifacts[i]
	a.restore(shown, event.Append)
	t.reordered, t.unseen = true, true
	a.closed = event.LastChunk
}

// submitAgain gives a recovered message back to the runner.
func (e *Engine) submitAgain(r *run) {
	t := r.task
	if r.refused != nil {
		r.reject()
		return
	}
	job := executor.Job{ID: r.jobID, Context: t.conversation, Input: r.input, Options: r.options, Size: r.weight, Accepted: true, Patient: true, Trace: keys.TraceOf(r.message), Peer: t.forPeer(r.from), Lend: r.lend, Bridged: r.message.Metadata[keys.Bridge] == true}
	if m := r.recovered; m.Attempt > 0 {
		job.Cut = &executor.Cut{Attempt: m.Attempt, ThreadID: m.Thread, Tool: m.Tool}
	}
	job.Mute = t.mute(r.from)
	if !e.steerAgain(r, job) {
		if _, err := e.cfg.submit(job, r.observe); err != nil {
			// It stays in the journal for the next start.
			e.log.Error("a message that was left unfinished could not be queued", "task_id", t.id, "err", err)
			t.lock()
			defer t.unlock()
			r.park()
			return
		}
	}
	t.lock()
	r.admit()
	canceling := t.canceling
	t.unlock()
	if canceling {
		e.wg.Go(func() { e.cancelJobs(t, []string{r.jobID}) })
	}
}

// steerAgain gives a recovered message back to the turn that it was handed to, and
// reports whether it could. One that was begun before another one of its task had
// its end can only have been that: turns of a conversation do not run side by side.
// Or that one's turn has ended without it, and it waited for its own: then it may ask
// for what the turn does not have, and waits again.
func (e *Engine) steerAgain(r *run, job executor.Job) bool {
	if job.Cut == nil {
		return false
	}
	t := r.task
	t.lock()
	into := t.runs[slices.IndexFunc(t.runs, func(other *run) bool { return other.recovered.Attempt > 0 })]
	t.unlock()
	return into != r && r.options.FitInto(into.options) && e.cfg.steer(into.jobID, job, r.observe) == nil
}

// obeyAgain carries out a command that an earlier process has accepted. It is
// about what was there before it.
func (e *Engine) obeyAgain(r *run, before []*run) {
	r.let()
	var others []*task
	for _, other := range before {
		if t := other.task; t.isOf(r.task.about()) && !slices.Contains(others, t) {
			others = append(others, t)
		}
	}
	e.obey(r, r.command, others)
}

// rejoin makes a turn of a message of an earlier process.
func (t *state) rejoin(m *store.Message) (*run, error) {
	message, from, err := t.engine.fromJournal(m.Body)
	if err != nil {
		return nil, fmt.Errorf("message of job %s in the journal: %w", m.Job, err)
	}
	message, m.Body = t.inHistory(message), nil // it is in memory once
	in, err := read(&a2a.SendMessageRequest{Message: message})
	var lend agent.Lender
	if err == nil {
		in.from = from
		lend, err = t.engine.loans().Recompose(&in.Prompt, in.message, in.from)
	}
	if err != nil {
		return nil, fmt.Errorf("message of job %s in the journal: %w", m.Job, err)
	}
	t.engine.readOverrides(in)
	r := &run{
		task: t.task, message: message, from: in.from, jobID: m.Job, input: in.Input, weight: in.weight(), options: in.options, refused: in.refused, lend: lend,
		recovered: m, attempt: m.Attempt, tool: m.Tool,
	}
	if strings.HasPrefix(t.conversation, commandPrefix) {
		r.command = cmp.Or(commandIn(message), restartIn(message.Metadata), pressedIn(message.Metadata))
	}
	t.runs = append(t.runs, r)
	return r, nil
}

// inHistory is a message as the history has it already.
func (t *state) inHistory(m *a2a.Message) *a2a.Message {
	digest := codec.DigestOf(m.Parts)
	i := slices.IndexFunc(t.history, func(h *a2a.Message) bool {
		return h.ID == m.ID && h.Role == m.Role && codec.DigestOf(h.Parts) == digest
	})
	if i < 0 {
		return m
	}
	return t.history[i]
}

// noteAttempt notes which attempt a message has had last: the process before may have been
// killed between the begin of that and what it would have shown of it.
func (t *state) noteAttempt(r *run) {
	if of, known := t.meta[keys.Message]; r.attempt > 1 && (!known || of == r.number()) {
		t.note(map[string]any{keys.Message: r.number(), keys.Attempt: r.attempt})
	}
}
