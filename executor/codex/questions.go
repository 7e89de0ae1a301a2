package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
)

// A question is one request of codex that waits for a person.
type question struct {
	req      *appserver.Request
	asks     ask.Request
	deadline time.Time                 // zero: none
	settled  chan struct{}             // closed when codex was answered
	posed    atomic.Pointer[ask.Posed] // nil until it is about to be put to the observer

	// Guarded by inquiry.mu.
	id    string    // given when it is put to the observer
	given *response // nil while it is open
}

// An inquiry is what codex asks in one attempt at a job: from before its turn is
// started, for codex may ask before we know that it has begun, until its end.
//
// Three parties touch it: the goroutine of each question, which waits and
// expires; the turn's, which tells the observer; and whoever answers.
type inquiry struct {
	executor.Order
	threadID string
	wake     func() // makes the turn look
	most     int    // questions that may be open, those of its subagents included

	calls     context.Context // that of the tool calls of the turn; ends with it
	over      context.CancelFunc
	turnKnown chan struct{} // closed by begun, which is called once

	mu     sync.Mutex // guards the fields below
	turnID string     // empty until it is known
	fresh  []*question
	posed  []*question      // told to the observer and open, the oldest first
	given  []*question      // open no more, but codex does not have the answer yet
	count  int              // questions that were given an id
	excess int              // questions beyond the most, which the observer has not been told of
	muted  int              // the same of those that wait for nobody, for the job is mute
	news   []agent.Answered // to be told to the observer
	gone   map[string]bool  // requests that codex has withdrawn before they came here
	off    bool             // an answer has ended the turn
	twice  bool             // one id stands for two calls: nothing that is asked is answered
	closed bool
}

// openInquiry begins to take questions of a thread for an attempt.
func (d *Driver) openInquiry(threadID string, of executor.Order, wake func()) *inquiry {
	in := &inquiry{Order: of, threadID: threadID, wake: wake, most: d.cfg.MaxAsked, turnKnown: make(chan struct{}), gone: map[string]bool{}}
	in.calls, in.over = context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inquiries[threadID] = in
	return in
}

// closeInquiry takes no more questions and declines those that are open. It
// returns the ids of those that are open for all that the observer knows.
func (d *Driver) closeInquiry(threadID string, in *inquiry) (posed []string) {
	d.mu.Lock()
	if d.inquiries[threadID] == in {
		delete(d.inquiries, threadID)
		d.forgetAgentsLocked(in)
	}
	d.mu.Unlock()
	in.over()
	in.mu.Lock()
	in.closed = true
	left := slices.Concat(in.posed, in.fresh, in.given)
	for _, q := range slices.Concat(in.posed, in.given) {
		if q.untoldLocked() {
			posed = append(posed, q.id)
		}
	}
	for _, untold := range in.news {
		posed = append(posed, untold.ID)
	}
	in.posed, in.fresh, in.given, in.news = nil, nil, nil, nil
	in.mu.Unlock()
	for _, q := range left {
		d.decline(q.req, q.asks, "the turn has ended")
		close(q.settled)
	}
	return posed
}

// inquiryOf finds the attempt that a request of a thread belongs to, also that of
// a subagent; nil if there is none.
func (d *Driver) inquiryOf(threadID string) *inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in := d.inquiries[threadID]; in != nil {
		return in
	}
	one := d.agents.at[threadID]
	for _, in := range d.inquiries {
		if one != nil && in.isOf(one.root) {
			return in
		}
	}
	return nil
}

func (in *inquiry) isOf(turnID string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.turnID == turnID
}

func (in *inquiry) begun(turnID string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.turnID = turnID
	close(in.turnKnown)
}

// await puts a question to its turn and waits until codex is answered. Without an
// answer in time it is declined.
func (d *Driver) await(ctx context.Context, in *inquiry, q *question) {
	leave, ok := d.host.AdmitMute(in.Job, in)
	if !ok {
		in.unheard()
		d.decline(q.req, q.asks, "answers of the message's sender are not taken, and no more such turns may wait for those of others")
		return
	}
	defer leave()
	var expired <-chan time.Time
	if ttl := d.cfg.QuestionTTL; ttl > 0 {
		q.deadline = time.Now().Add(ttl)
		timer := time.NewTimer(ttl)
		defer timer.Stop()
		expired = timer.C
	}
	if err := in.add(q); err != nil {
		d.decline(q.req, q.asks, err.Error())
		return
	}
	d.log.Info("codex asks", "method", q.req.Method, "thread_id", q.req.ThreadID, "job", in.Job)
	select {
	case <-q.settled:
		return
	case <-ctx.Done(): // the child is gone: so is the turn, and it says so
		return
	case <-expired:
		d.expire(in, q)
	}
	select {
	case <-q.settled:
	case <-ctx.Done():
	}
}

// unheard notes that a question was not admitted.
func (in *inquiry) unheard() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.muted++
	in.wake()
}

// expire declines a question whose time is up.
func (d *Driver) expire(in *inquiry, q *question) {
	note := fmt.Sprintf("The question was not answered within %s (CODEX_QUESTION_TTL): it was declined.", d.cfg.QuestionTTL)
	in.give(q, response{Reply: ask.Reply{Value: q.asks.Refusal()}, note: note})
}

// isLate reports whether the time that a question names is over. Of a machine that has slept the timer knows
// nothing of that.
func (q *question) isLate() bool {
	return !q.deadline.IsZero() && !time.Now().Round(0).Before(q.deadline.Round(0))
}

var (
	errTurnEnded = errors.New("the turn has ended")
	errWithdrawn = errors.New("codex has withdrawn it")
	errTooMany   = errors.New("too many questions are open in its context (RUNTIME_MAX_CONTEXT_QUESTIONS)")
)

func (in *inquiry) add(q *question) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.twice = in.twice || in.clashesLocked(q) // also if it is not asked: codex has let go of the first
	switch {
	case in.closed:
		return errTurnEnded
	case in.gone[requestKey(q.req.ID)]:
		return errWithdrawn
	case len(in.fresh)+len(in.posed) >= in.most: // a turn is all that asks in a context
		in.excess++
		in.wake()
		return errTooMany
	}
	in.fresh = append(in.fresh, q)
	in.wake()
	return nil
}

// shut takes no more questions: the turn is being ended, and those that are open
// end with it.
func (in *inquiry) shut() {
	in.over()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
}

// exceeded returns how many questions were beyond the most since it was called last.
func (in *inquiry) exceeded() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n, in.excess = in.excess, 0
	return n
}

// settle takes a question away that codex needs no answer to any more. It reports
// whether it was still there: only one takes it, and that one answers codex and closes
// question.settled.
func (in *inquiry) settle(q *question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.removeLocked(q) {
		return false
	}
	if q.untoldLocked() {
		in.news = append(in.news, agent.Answered{ID: q.id})
	}
	in.wake()
	return true
}

// removeLocked reports whether the question was there.
func (in *inquiry) removeLocked(q *question) bool {
	before := len(in.fresh) + len(in.posed) + len(in.given)
	for _, list := range []*[]*question{&in.fresh, &in.posed, &in.given} {
		*list = slices.DeleteFunc(*list, func(other *question) bool { return other == q })
	}
	return len(in.fresh)+len(in.posed)+len(in.given) < before
}

// untoldLocked reports whether the observer takes the question for open.
func (q *question) untoldLocked() bool { return q.id != "" && (q.given == nil || q.given.note == "") }

// retract takes back a question that the observer is not told of, and reports whether it was
// still there.
func (in *inquiry) retract(q *question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.removeLocked(q)
}

// standing counts the questions that are open, and those whose answers codex does not
// have yet.
func (in *inquiry) standing() (open, given int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.fresh) + len(in.posed), len(in.given)
}

// calledOff reports whether an answer has ended the turn.
func (in *inquiry) calledOff() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.off
}

// take returns what is to be told to the observer: questions, which have their
// ids from now on, and which ones are open no more.
func (in *inquiry) take(turnID string) (fresh []*question, news []agent.Answered) {
	in.mu.Lock()
	defer in.mu.Unlock()
	fresh, news = in.fresh, in.news
	in.fresh, in.news = nil, nil
	slices.SortFunc(fresh, func(a, b *question) int { return cmp.Compare(a.req.Seq(), b.req.Seq()) })
	for _, q := range fresh {
		in.count++
		q.id = questionID(turnID, in.count)
	}
	in.posed = append(in.posed, fresh...)
	return fresh, news
}

// questionID names the nth question of a turn. Codex's ids of turns are UUIDs.
func questionID(turnID string, n int) string { return fmt.Sprintf("%s-%d", turnID, n) }
