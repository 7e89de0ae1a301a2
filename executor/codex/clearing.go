package codex

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// What is said of a message that failed, and in whose conversation something is refused.
const (
	leftOut = ". The model will not read this message with the next ones"
	leftAll = ", nor those before it that it has not answered"
	staysIn = ". What is refused stays in this conversation for now"
	ifAgain = ". If the next message fails so, too, end the commands that the conversation has left running, or begin a new one (/new, or another contextId)"
)

// keep has the turn stand as the attempt at its message: what would have the turns after it fail is
// taken out of the history, and said in end.
func (t *turn) keep(end *agent.Ended) {
	if end.Outcome == agent.Completed {
		t.c.ran = cmp.Or(t.Options.Model, t.c.own.model)
	}
	if !t.foreign {
		t.d.clear(t.c, t, end)
	} else if !t.d.takeBack(t.c, t) {
		t.c.strange.Mix()
	}
}

// overWithout is said of a question where the job goes on without its answer.
const overWithout = "The turn ended before the question was answered."

// clear takes a failed turn out of the history that would have the turns after it fail: the provider
// would refuse to read its message with each of them, or the model that it named would be asked for a
// summary before each turn of another. With it go those before it that may be why, as the model has
// not answered them. Where that cannot be, it is done before another turn.
func (d *Driver) clear(c *conversation, t *turn, end *agent.Ended) {
	if end.Outcome == agent.Completed {
		c.blocked.Store(false)
	}
	if end.Outcome != agent.Failed || end.Failure == nil {
		return
	}
	behind := t.unreadable || t.refusedByAnother()
	switch read := c.read == t.id || len(end.Messages) > 0 || t.record.Gap; {
	case read && t.unreadable:
		end.Failure.Message += staysIn + ifAgain
	case !read && (behind || c.otherModel(t.Options) != ""):
		end.Failure.Message += d.leaveOut(c, t, behind) + ifAgain
	}
}

// leaveOut takes a turn of which the model has read nothing out of the history, with the attempts at its
// message before it, and behind others with those that may be why. It returns what is said of it.
func (d *Driver) leaveOut(c *conversation, t *turn, behind bool) string {
	first, before := t.id, t.before
	if oldest, known := d.unanswered(context.WithoutCancel(d.root), c, t.on, t, behind); known {
		first = oldest
	}
	if first != t.id {
		before = c.uncertain()
	}
	switch {
	case first == "" || !d.takeBackTo(c, t.on, first, before):
		c.blocked.Store(true)
		return staysIn
	case first == t.id || !behind:
		return leftOut
	}
	return leftOut + leftAll
}

// leaveOutBefore does the same behind a turn that was taken out already, and may not be why, where the
// summary could not be read that codex tried then.
func (d *Driver) leaveOutBefore(c *conversation, on *child.Child, summary *turn) string {
	if summary == nil || !summary.unreadable {
		return ""
	}
	first, _ := d.unanswered(context.WithoutCancel(d.root), c, on, nil, true)
	if first == "" || first == summary.id || !d.takeBackTo(c, on, first, c.uncertain()) {
		return ""
	}
	return leftAll + ifAgain
}

// refusedByAnother reports whether it may be a model that a turn before it has named, and that has not
// answered, which has refused the turn: codex asks that for a summary, and again until it has one.
func (t *turn) refusedByAnother() bool {
	return t.behindOther && (t.refused != nil || t.httpStatus == http.StatusNotFound)
}

// clearLate does what [Driver.clear] could not. The thread is loaded.
func (d *Driver) clearLate(ctx context.Context, c *conversation, on *child.Child) {
	if !c.blocked.Load() {
		return
	}
	first, known := d.unanswered(ctx, c, on, nil, true)
	c.blocked.Store(!known || first != "" && !d.takeBackTo(c, on, first, c.uncertain()))
}

// unanswered returns the oldest of the turns that the history of the thread of c ends with and that the
// model has not answered: they may be why the provider refuses what comes after them. Of the newest, if
// that is t, the caller knows it; of those before it only attempts at the same message count, but for
// behind. It is empty if there is none, or t is not the newest; it is not known while they could not be
// taken out anyway.
func (d *Driver) unanswered(ctx context.Context, c *conversation, on *child.Child, t *turn, behind bool) (first string, known bool) {
	if on.Gone() || d.runsCommands(c, on) {
		return "", false
	}
	for _, limit := range []int{2, fewTurns, manyTurns} { // turns may be large
		turns, err := d.listTurns(ctx, c, on, limit)
		if err != nil {
			return first, first != ""
		}
		n := d.countUnanswered(c, turns, t, behind)
		if n == 0 {
			return "", true
		}
		if first = turns[n-1].ID; n < limit {
			break
		}
	}
	return first, true
}

// countUnanswered counts the turns that the model has not answered, from the newest on.
func (d *Driver) countUnanswered(c *conversation, turns []appserver.Turn, t *turn, behind bool) int {
	if t != nil && (len(turns) == 0 || turns[0].ID != t.id) {
		return 0
	}
	for n, turn := range turns {
		switch {
		case n == 0 && t != nil:
		case !behind && !t.isOfTheSame(turn), !d.isUnanswered(c, turn):
			return n
		}
	}
	return len(turns)
}

// isOfTheSame reports whether a turn is an attempt at the message of t, which may be nil.
func (t *turn) isOfTheSame(other appserver.Turn) bool {
	return t != nil && slices.ContainsFunc(other.Items, func(item appserver.Item) bool {
		return item.Type == appserver.ItemUserMessage && isAttempt(item.ClientID, t.Job)
	})
}

// isUnanswered reports whether the model has said nothing in a turn of the thread of c, planned nothing and
// called nothing: a plan, and a call that was cut, stand in the thread's files alone. What it was saying when
// it was stopped stands nowhere (seen on 0.169.0).
func (d *Driver) isUnanswered(c *conversation, turn appserver.Turn) bool {
	if turn.ID == c.read || turn.Status != appserver.TurnFailed && turn.Status != appserver.TurnInterrupted {
		return false
	}
	for _, item := range turn.Items {
		switch item.Type {
		case appserver.ItemReasoning, appserver.ItemContextCompaction, appserver.ItemHookPrompt:
		case appserver.ItemUserMessage:
			if !isOfSomeJob(item.ClientID) {
				return false
			}
			if trace, err := d.cfg.FindTrace(c.rollout, item.ClientID); err != nil || !trace.Found || trace.Called {
				return false
			}
		default:
			return false
		}
	}
	return true
}
