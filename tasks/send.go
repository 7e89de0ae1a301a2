package tasks

import (
	"context"
	"errors"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// SendMessage implements a2asrv.RequestHandler. Unless the caller wants to
// return immediately it returns when the task has ended or needs its caller. The
// end of ctx ends the waiting only.
func (e *Engine) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	atOnce := req != nil && req.Config != nil && req.Config.ReturnImmediately
	v, err := e.accept(ctx, req, atOnce)
	if errors.Is(err, prompt.ErrEmpty) && e.cfg.Workspace != nil {
		return e.nothing(req), nil
	}
	if err != nil {
		return nil, err
	}
	wanted := wantedBy(req) // the rest of it, files included, is let go while its sender waits
	answered := v.answered
	if atOnce {
		answered = v.decided
		err = e.promise(ctx)
	}
	if err == nil {
		err = e.load(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	v.yield(ctx)
	task, err := answered(ctx)
	if err != nil {
		return nil, err
	}
	return wanted.of(task), nil
}

// SendStreamingMessage implements a2asrv.RequestHandler. The first event is the
// task as it is with the message, the last one that of its end, or the question
// that only the sender can answer.
func (e *Engine) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return unplaced(e.Stream(ctx, req, ""))
}

// accept makes a turn of a message, or finds the task that it has made before. If that has
// ended, the caller still has to load it.
func (e *Engine) accept(ctx context.Context, req *a2a.SendMessageRequest, patient bool) (*view, error) {
	defer taken(ctx)
	in, err := read(req)
	if err != nil {
		return nil, err
	}
	in.written = writtenAt(ctx)
	accepted := false
	defer func() { e.settle(ctx, in, accepted) }()
	if err := e.readWhole(ctx, req, in, patient); err != nil {
		return nil, err
	}
	v, err := e.take(ctx, in)
	accepted = err == nil
	return v, err
}

// take makes a turn of a message that was read whole, or finds its task, when it may pass.
func (e *Engine) take(ctx context.Context, in *incoming) (*view, error) {
	if in.command == "" {
		passed := e.pass(ctx, in)
		v, err := e.takeNow(ctx, in, false)
		passed()
		if !errors.Is(err, errAlone) {
			return v, err
		}
	}
	defer e.admit.alone()()
	return e.takeNow(ctx, in, true)
}

// takeNow takes a message that passes. Messages wait for that, so one whose caller has left by then is
// let go: nothing is begun yet. One that is not alone may be told to pass so, with [errAlone].
func (e *Engine) takeNow(ctx context.Context, in *incoming, alone bool) (*view, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // a caller who leaves now must not tear this apart
	host := e.host(in)
	if in.key.Task == "" && in.key.Caller == "" && in.command == "" && host == nil && in.refused == nil && !e.admit.closed.Load() { // mostly it is new: then the journal is asked only once
		v, err := e.begin(ctx, in)
		if in.refused == nil && !errors.Is(err, store.ErrExists) {
			return v, err
		}
	}
	known, err := e.known(ctx, in)
	switch {
	case err == nil && !alone && (in.retry || in.push != nil): // it may be about another conversation
		return nil, errAlone
	case err == nil:
		return e.again(ctx, in, known)
	case !errors.Is(err, store.ErrUnknown):
		return nil, e.journalError("look the message up", err)
	case e.admit.closed.Load():
		return nil, stopping()
	case in.refused != nil:
		return nil, in.refused
	}
	if in.command != "" {
		return e.command(ctx, in)
	}
	if host != nil {
		v, err := e.within(ctx, in, host)
		_, late := errors.AsType[notAskedError](err)
		if late || !errors.Is(err, a2a.ErrUnsupportedOperation) { // it has ended, or is about to
			return v, err
		}
		if err := in.answersNobody(); err != nil {
			return nil, err
		}
		return e.enqueue(ctx, in, e.taskFor(in), e.cfg.Journal.Accept)
	}
	if in.key.Task == "" {
		return e.begin(ctx, in)
	}
	return e.further(ctx, in)
}

// begin makes a task of a message, if there is room for it.
func (e *Engine) begin(ctx context.Context, in *incoming) (*view, error) {
	t := e.taskFor(in)
	in.refuse(in.answersNobody())
	if in.refused == nil {
		in.refused = e.room(in, t)
	}
	if in.refused != nil {
		return nil, in.refused
	}
	return e.enqueue(ctx, in, t, e.cfg.Journal.Accept)
}

// readWhole reads the rest of a message, and brings its files to the disk.
func (e *Engine) readWhole(ctx context.Context, req *a2a.SendMessageRequest, in *incoming, patient bool) error {
	e.classify(ctx, req, in, patient)
	in.patient = patient
	e.trim(in, req)
	if err := e.readPush(ctx, req, in); err != nil {
		return err
	}
	if in.refuse(in.checkMetadata()) { // it may be one that was accepted once
		return nil
	}
	e.readOverrides(in)
	var err error
	if in.refused == nil {
		err = e.stage(ctx, in)
	}
	if err != nil || in.leave != nil && in.refused != nil { // its files have not been brought
		return err
	}
	return in.Compose(in.message, in.from, e.cfg.Files)
}

// further makes a further turn of a message that names a task, or an answer.
func (e *Engine) further(ctx context.Context, in *incoming) (*view, error) {
	t := e.live.find(in.named())
	if err := e.reachable(ctx, in.from, a2a.TaskID(in.key.Task), t); err != nil {
		return nil, err
	}
	if err := e.belongs(ctx, in, t); err != nil {
		return nil, err
	}
	if t.conversation != t.about() {
		return nil, refusal.New(a2a.ErrUnsupportedOperation, "task %q is that of a command, which takes no further message", t.id)
	}
	return e.within(ctx, in, t)
}

// within makes a message part of a task: an answer, a part of its running turn, or
// a further turn. What codex asks, it asks the user.
func (e *Engine) within(ctx context.Context, in *incoming, t *task) (*view, error) {
	if in.from.Answers() {
		if v, err := e.answer(ctx, in, t); v != nil || err != nil {
			return v, err
		}
	}
	return e.enqueue(ctx, in, t, e.cfg.Journal.Accept)
}

// again answers a message that was accepted before with the task it belongs to.
func (e *Engine) again(ctx context.Context, in *incoming, known store.Message) (*view, error) {
	if known.Digest != in.digest {
		return nil, refusal.New(a2a.ErrInvalidParams,
			"messageId %q was used before with other content; give each message an id of its own", brief.Clip(in.key.Message, 64))
	}
	v, err := e.look(ctx, a2a.TaskID(known.TaskID))
	if err == nil {
		in.receipt.bindAgain(e, a2a.TaskID(known.TaskID))
		err = e.pushAgain(ctx, in, v.task)
	}
	if err != nil || !in.retry {
		return v, err
	}
	if interrupted, err := e.interrupted(ctx, in, v, known); !interrupted {
		return v, err
	}
	if e.admit.closed.Load() {
		return nil, stopping()
	}
	if in.refused != nil {
		return nil, in.refused
	}
	return e.retry(ctx, in, v.task, known)
}

// interrupted reports whether the turn of a message that was accepted before was cut
// off. What the journal could not take yet, it takes now: a retry that is accepted
// before that would leave the message in its place in the queue, too.
func (e *Engine) interrupted(ctx context.Context, in *incoming, v *view, known store.Message) (bool, error) {
	if known.Interrupted {
		return true, nil
	}
	if v.of != nil {
		if err := v.of.saveCut(known.Job); err != nil {
			return false, e.journalError("write down how the message ended", err)
		}
	}
	known, err := e.cfg.Journal.Message(ctx, in.key)
	if err != nil {
		return false, e.journalError("look the message up", err)
	}
	return known.Interrupted, nil
}

// retry runs a message again whose turn was cut off, as its sender wants it in
// spite of what the turn may have done, and with what it ran with, unless it asks for
// something else now. It is a new task: the other has ended, or is about further messages.
func (e *Engine) retry(ctx context.Context, in *incoming, cut *a2a.Task, known store.Message) (*view, error) {
	contextID, conversation := cut.ContextID, e.cfg.Threads(in.key.Context, cut.ContextID)
	switch {
	case in.from.In(known.Conversation):
		conversation = known.Conversation
	case in.from.IsPeer(): // an earlier version had it elsewhere
		conversation = e.conversation(in)
		contextID = conversation
	}
	body, err := e.cfg.Journal.Body(ctx, known.Job)
	if err != nil {
		return nil, e.journalError("look the message up", err)
	}
	earlier, _, err := codec.Decode[a2a.Message](body)
	if err != nil {
		earlier = &a2a.Message{} // what it asked for is not known any more
	}
	again := *in
	if again.options, err = e.cfg.Bounds.Inherit(in.message, earlier.Metadata); err != nil {
		return nil, err
	}
	again.message = overrides.Asking(in.message, again.options)
	again.message.ContextID, again.message.TaskID = contextID, ""
	t := e.newTask(a2a.NewTaskID(), contextID, conversation)
	t.class = in.class()
	t.meta = map[string]any{keys.RetryOf: string(cut.ID)}
	return e.enqueue(ctx, &again, t, e.cfg.Journal.Replace)
}

// enqueue commits a message as a turn of t and gives it to the runner. Its caller passes meanwhile (admission.go).
func (e *Engine) enqueue(ctx context.Context, in *incoming, t *task, commit func(context.Context, store.Message, store.Head) error) (*view, error) {
	before, err := e.bringPush(ctx, t, in.push)
	if err != nil {
		return nil, err
	}
	r, err := t.join(in, func(m store.Message, head store.Head) error { return commit(ctx, m, head) })
	if err != nil {
		return nil, err
	}
	if r.refused != nil {
		r.reject()
		return t.view(), nil //nolint:nilerr // the task says why
	}
	job := in.job(t, r.jobID)
	job.Mute = t.mute(in.from)
	steered, err := e.steer(t, r, job)
	if steered {
		v := t.admitSteer(r)
		v.acks = in.receipt != nil && in.from.Kind == origin.User
		return v, nil
	}
	ahead := 0
	if err == nil {
		ahead, err = e.cfg.submit(job, r.observe)
	}
	if err != nil {
		e.withdraw(ctx, t, r)
		e.withdrawPush(ctx, t, before)
		return nil, e.notQueued(err)
	}
	e.live.add(t)
	return t.admit(r, ahead), nil
}

// withdraw takes back what was committed for a message that the runner refused,
// so that its sender can try again.
func (e *Engine) withdraw(ctx context.Context, t *task, r *run) {
	t.leave(r, func(without store.Head) error {
		err := e.cfg.Journal.Withdraw(ctx, r.jobID, &without)
		if err != nil {
			e.log.Error("a refused message could not be withdrawn", "task_id", t.id, "err", err)
		}
		return err
	})
}
