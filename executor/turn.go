package executor

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A turn is one running turn. It belongs to the goroutine that serves its
// conversation; only its attention is touched from elsewhere.
type turn struct {
	e         *Executor
	c         *conversation
	job       *job
	on        *child
	id        string
	record    record
	attention *attention
	idle      bool  // the thread says that it does nothing
	stopping  error // why codex was asked to end the turn; nil while it was not
}

// startTries bounds how often a message is offered to codex.
const startTries = 3

// errUnsure is the end of a message that codex may have taken before it died.
var errUnsure = errors.New("codex died while it was given the message")

// A cutError reports a turn/start that the child's death has cut.
type cutError struct{ error }

func (e cutError) Unwrap() error { return e.error }

// start gets the conversation's thread ready and starts the turn. A child that
// died without taking the message, or has put its thread away, or has too much
// to do, costs another try and not the message.
func (e *Executor) start(c *conversation, j *job) (*turn, error) {
	for try := 1; ; try++ {
		t, err := e.tryStart(c, j)
		if err == nil {
			return t, nil
		}
		again, err := e.again(c, j, err)
		if !again || try == startTries || j.ctx.Err() != nil {
			return nil, causeOf(j.ctx, err)
		}
	}
}

// again decides whether a message whose start failed may be offered once more.
func (e *Executor) again(c *conversation, j *job, err error) (bool, error) {
	if _, cut := errors.AsType[cutError](err); cut && e.mayHaveTaken(c, j) {
		return false, errUnsure
	}
	if appserver.IsOverloaded(err) {
		return wait(j.ctx, overloadWait), err
	}
	_, died := errors.AsType[*appserver.ExitError](err)
	_, unstarted := errors.AsType[startError](err)
	return appserver.IsThreadGone(err) || died && !unstarted, err
}

// overloadWait is what a codex with too much to do is given.
const overloadWait = 500 * time.Millisecond

func (e *Executor) tryStart(c *conversation, j *job) (*turn, error) {
	on, err := e.child.get(j.ctx)
	if err != nil {
		return nil, err
	}
	if err := e.load(j.ctx, c, on); err != nil {
		return nil, on.settled(err)
	}
	id, err := e.startTurn(c, j, on)
	if err != nil {
		return nil, on.settled(err)
	}
	if c.replaced {
		j.observe(Notice{Text: "The earlier history of this conversation was lost; codex starts afresh."})
	}
	c.resumable, c.replaced = true, false
	return &turn{e: e, c: c, job: j, on: on, id: id, record: newRecord(), attention: newAttention()}, nil
}

// startTurn hands the message to codex. The caller's cancel must not cut the
// call: codex may have taken the message, and then the turn is ended by an
// interrupt.
func (e *Executor) startTurn(c *conversation, j *job, on *child) (id string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), e.cfg.Patience)
	defer cancel()
	params := appserver.TurnStartParams{ThreadID: c.threadID, Input: j.Input, ClientUserMessageID: j.ID}
	if c.replaced {
		params.AdditionalContext = map[string]appserver.AdditionalContext{
			"runtime_notice": {Kind: "application", Value: lostHistory},
		}
	}
	started, err := on.TurnStart(ctx, params)
	switch {
	case appserver.IsThreadGone(err):
		e.unloaded(c) // unloaded behind our back: the next load resumes it
	case errors.Is(err, context.DeadlineExceeded):
		on.restart(reasonDeaf)
		<-on.Done()
		err = on.Err()
	}
	if _, died := errors.AsType[*appserver.ExitError](err); died {
		err = cutError{err}
	}
	return started.ID, err
}

// mayHaveTaken looks whether a message whose turn/start was cut by the child's
// death stands in the thread's history. It reports true when it does, or when
// that cannot be found out.
func (e *Executor) mayHaveTaken(c *conversation, j *job) bool {
	if c.threadID == "" {
		return false
	}
	on, err := e.child.get(j.ctx)
	if err != nil {
		return true
	}
	if err := e.resume(j.ctx, c, on); err != nil {
		return !appserver.IsNoRollout(err)
	}
	c.resumable = true
	ctx, cancel := context.WithTimeout(j.ctx, e.cfg.Patience)
	defer cancel()
	turns, err := on.TurnsList(ctx, c.threadID, 5, true)
	return err != nil || findMessage(turns, j.ID) != nil
}

// findMessage returns the turn that holds the user message with a client id.
func findMessage(turns []appserver.Turn, clientID string) *appserver.Turn {
	for i := range turns {
		for _, item := range turns[i].Items {
			if item.Type == appserver.ItemUserMessage && item.ClientID == clientID {
				return &turns[i]
			}
		}
	}
	return nil
}

// causeOf prefers the reason why ctx ended to the error that its end caused.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// follow reads the turn's events until it has ended.
func (t *turn) follow() Ended {
	t.job.observe(Started{ThreadID: t.c.threadID, TurnID: t.id, Waited: time.Since(t.job.submitted)})
	stop := context.AfterFunc(t.job.ctx, func() { t.attention.raise(context.Cause(t.job.ctx)) })
	defer stop()
	t.attention.after(t.e.cfg.TurnTimeout, timerTurn)
	t.alive()
	for {
		note, err := t.c.events.Next(t.attention.context())
		var end *Ended
		switch {
		case err == nil:
			end = t.handle(note)
		case errors.Is(err, context.Canceled):
			end = t.decide(t.attention.take())
		default: // the child is gone, and all that it said has been read
			end = t.died(err)
		}
		if end != nil {
			return *end
		}
	}
}
