package codex

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// tellQuestions tells the observer what codex asks, and what it needs no answer to any
// more. What codex has said before it asked is handled first: the files of a
// change stand there. It returns the turn's end if that is among it.
func (t *turn) tellQuestions() *agent.Ended {
	for {
		note, ok := t.c.events.Poll()
		if !ok {
			break
		}
		if end := t.handle(note); end != nil {
			return end
		}
	}
	if t.stopping != nil { // no question is put any more
		return nil
	}
	if t.inquiry.Doubted() {
		return t.stopFor(errTwice)
	}
	fresh, news := t.inquiry.Take(t.id)
	for _, q := range fresh {
		posed := q.Asks.Pose(t.view(q))
		notice, why := t.unaskable(posed)
		if notice != "" {
			t.unasked(q, notice, why)
			continue
		}
		q.Posed.Store(&posed)
		t.asked += posed.Bytes()
		t.timers.Rest() // the observer may take its time
		t.To.Tell(posed.Question(q.ID, q.Deadline))
	}
	for _, answered := range news {
		t.To.Tell(answered)
	}
	t.tellExceeded()
	t.handAnswers()
	t.alive()
	return nil
}

// view is what the turn knows beside a question. The ids of items are those of a thread: a
// change of its own has nothing to do with what a subagent asks.
func (t *turn) view(q *inquiry.Question) ask.View {
	with := ask.View{Hide: t.d.cfg.Hide, Lead: t.d.guard.Whereabouts, Home: t.d.guard.Home(), Called: t.record.Calls.Has}
	with.Changes = func(itemID string) []agent.Change { return items.Changes(t.record.Changes[itemID]) }
	if q.Req.ThreadID != t.c.threadID {
		with.Changes = func(itemID string) []agent.Change {
			return items.Changes(t.d.desk.ChangesOfAgent(q.Req.ThreadID, itemID))
		}
		with.Called = func(call ask.Call) bool { return t.d.desk.CalledByAgent(q.Req.ThreadID, call) }
	}
	return with
}

// unaskable says why something is declined without a question: to the sender of the message, and
// to the log. Both are empty where it is asked.
func (t *turn) unaskable(p ask.Posed) (notice, why string) {
	if notice, why = t.d.guard.Unaskable(); notice != "" {
		return notice, why
	}
	if t.asked+p.Bytes() > mostAskedInATurn {
		return muchAsked, "the turn has asked too much"
	}
	return p.Unaskable(t.Peer)
}

// mostAskedInATurn is how much a turn may ask. Each question is kept until the task has ended, with
// those that were open beside it, and a turn can ask without end.
const mostAskedInATurn = 4 << 20

// muchAsked is what the sender of a message reads whose turn has asked too much.
const muchAsked = "codex asked again, with which the turn would have asked more than 4 MiB. It was declined without a question. codex goes on without it; a further message has a turn that may ask again."

// unasked declines without a question. A yes that has come by a guess at its id is void.
func (t *turn) unasked(q *inquiry.Question, notice, why string) {
	if !t.inquiry.Retract(q) { // withdrawn over it
		return
	}
	defer close(q.Settled)
	t.d.decline(q.Req, q.Asks, why)
	t.To.Tell(agent.Notice{Text: notice})
}

// keptAnswer is what the sender of an answer reads whose turn cannot go on at once.
const keptAnswer = "The answer is kept. The turn goes on with it as soon as one of those that run has ended (RUNTIME_MAX_TURNS)."

// handAnswers hands codex the answers to its questions, if the turn has a slot to go on
// with, and asks for one if not. An answer that ends the turn needs none.
func (t *turn) handAnswers() {
	all := t.inquiry.Answers()
	if len(all) == 0 {
		return
	}
	ends := slices.ContainsFunc(all, func(q *inquiry.Question) bool { return q.Given.Ends })
	if !ends && !t.To.Resume(func() { t.attention.raise(wakeQuestion) }) {
		for _, q := range all {
			if q.Untold() && !q.Given.Kept {
				q.Given.Kept = true
				t.To.Tell(agent.Notice{Text: keptAnswer})
			}
		}
		return
	}
	for _, q := range all {
		t.handAnswer(q)
	}
}

func (t *turn) handAnswer(q *inquiry.Question) {
	if !t.inquiry.HandOver(q) { // withdrawn over it
		return
	}
	defer close(q.Settled)
	value, note := q.Given.Value, ""
	if q.Given.Note == "" && !q.Given.Ends && !reflect.DeepEqual(value, q.Asks.Refusal()) {
		posed := q.Posed.Load()
		if note = cmp.Or(t.d.guard.Forged(), posed.Moved(t.d.guard.Whereabouts), t.d.guard.OpenUp(posed.Opens)); note != "" {
			value = q.Asks.Refusal()
		}
	}
	err := q.Req.Reply(value)
	t.d.log.Info("codex was answered", "method", q.Req.Method, "thread_id", q.Req.ThreadID, "job", t.Job, "declined", q.Given.Note != "" || note != "", "err", err)
	switch {
	case q.Given.Note != "":
	case err != nil: // the child is gone, and the end of the turn says so
		t.unanswered = append(t.unanswered, q.ID)
	default:
		if less := q.Given.Less; less != "" && note == "" {
			t.To.Tell(agent.Notice{Text: less})
		}
		t.To.Tell(agent.Answered{ID: q.ID, Note: note})
	}
}
