package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

const compacting = "The conversation is longer than what the model can read at once. It is being summarised, and then the message is tried once more."

// A shortening is what became of a turn whose thread was too long for the model.
type shortening struct {
	tried bool  // codex was to summarise the thread
	out   bool  // the turn was taken out of the history before that
	turn  *turn // that summarises; nil if it did not begin
}

// Shorten implements [executor.Turn]: it has codex summarise the thread, after the turn has met the end of the context. It
// returns why the model refuses to do that, if it does.
func (t *turn) Shorten(end *agent.Ended) (refused *executor.Refusal, err error) {
	t.withdraw(overWithout)
	t.To.Tell(agent.Notice{Text: compacting})
	t.shortened.tried, t.shortened.out = true, !end.Tools && t.d.takeBack(t.c, t)
	t.shortened.turn, err = t.d.compact(t.c, t.Order, t.on)
	if t.shortened.turn != nil && t.shortened.turn.refused != nil {
		return t.shortened.turn.refused, nil
	}
	return nil, err
}

// keepLong is [turn.keep] for a turn that has met the end of the context, and is not followed
// by another attempt.
func (t *turn) keepLong(end *agent.Ended) {
	refused := t.shortened.turn != nil && t.shortened.turn.refused != nil
	if t.shortened.tried && !refused {
		end.Failure.Message += "; codex could not make it shorter"
	}
	switch {
	case !t.shortened.out && !refused:
		t.unreadable = true
		t.d.clear(t.c, t, end)
	case t.shortened.out && refused:
		end.Failure.Message += leftOut
	case t.shortened.out: // what may be why is before it
		end.Failure.Message += leftOut + t.d.leaveOutBefore(t.c, t.on, t.shortened.turn)
	}
}

// compact puts a summary in the place of the thread's history. It is a turn of
// codex's own making, and read like any other; it is nil where it did not begin.
func (d *Driver) compact(c *conversation, of executor.Order, on *child.Child) (*turn, error) {
	if err := d.load(of.Ctx, c, on); err != nil {
		return nil, err
	}
	id, err := d.beginCompaction(of.Ctx, c, on)
	if err != nil {
		return nil, err
	}
	t := d.newTurn(c, of, on)
	t.id = id
	t.inquiry.Begun(id)
	d.bidden(c, id)
	end, err := t.read()
	switch {
	case err != nil:
		return t, err
	case end.Outcome == agent.Completed:
		return t, nil
	case end.Failure != nil:
		t.unreadable = t.unreadable || end.Failure.Kind == agent.FailContext
		return t, end.Failure
	}
	return t, fmt.Errorf("compaction was %s", end.Outcome)
}

// beginCompaction returns the turn that summarises the thread. As with any turn, the
// caller's cancel must not cut this: codex would be left with one that nobody ends.
func (d *Driver) beginCompaction(ctx context.Context, c *conversation, on *child.Child) (id string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Patience)
	defer cancel()
	if err = on.ThreadCompact(ctx, c.threadID); err == nil {
		id, err = nextTurn(ctx, c.events)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		on.Restart(child.ReasonDeaf)
		<-on.Done()
	}
	return id, err
}

// nextTurn returns the turn that begins next on a thread.
func nextTurn(ctx context.Context, events *appserver.Subscription) (id string, err error) {
	for {
		note, err := events.Next(ctx)
		if err != nil {
			return "", fmt.Errorf("thread/compact/start: no turn began: %w", err)
		}
		if note.Method != appserver.NoteTurnStarted {
			continue
		}
		var n appserver.TurnNote
		if err := json.Unmarshal(note.Params, &n); err != nil {
			return "", errors.Join(errors.New("thread/compact/start"), err)
		}
		return n.Turn.ID, nil
	}
}
