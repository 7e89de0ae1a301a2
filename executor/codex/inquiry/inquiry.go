package inquiry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// An Inquiry is what codex asks in one attempt at a job: from before its turn is
// started, for codex may ask before we know that it has begun, until its end.
//
// Three parties touch it: the goroutine of each question, which waits and
// expires; the turn's, which tells the observer; and the one that answers.
type Inquiry struct {
	executor.Order
	ThreadID string
	Bounds   Bounds
	wake     func() // makes the turn look

	Calls     context.Context // that of the tool calls of the turn; ends with it
	over      context.CancelFunc
	turnKnown chan struct{} // closed by Begun, which is called once

	mu     sync.Mutex // guards the fields below
	turnID string     // empty until it is known
	fresh  []*Question
	posed  []*Question         // told to the observer and open, the oldest first
	given  []*Question         // open no more, but codex does not have the answer yet
	count  int                 // questions that were given an id
	excess int                 // questions beyond the most, which the observer has not been told of
	muted  int                 // the same of those that must not wait, for the job is mute
	news   []agent.Answered    // to be told to the observer
	called []agent.ModelCalled // to be told to the observer, too
	gone   map[string]bool     // requests that codex has withdrawn before they came here
	off    bool                // an answer has ended the turn
	twice  bool                // one id stands for two calls: nothing that is asked is answered
	closed bool
}

// Bounds are those of what is asked.
type Bounds struct {
	Most int           // questions that may be open in an attempt, those of its subagents included
	TTL  time.Duration // how long one waits for its answer; 0 is for ever
}

func newInquiry(threadID string, of executor.Order, within Bounds, wake func()) *Inquiry {
	in := &Inquiry{Order: of, ThreadID: threadID, Bounds: within, wake: wake, turnKnown: make(chan struct{}), gone: map[string]bool{}}
	in.Calls, in.over = context.WithCancel(context.Background())
	return in
}

// None is the inquiry of an attempt that is over: nothing is asked in it.
func None() *Inquiry { return &Inquiry{over: func() {}} }

// Begun says which turn it is.
func (in *Inquiry) Begun(turnID string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.turnID = turnID
	close(in.turnKnown)
}

// IsOf reports whether a turn is known to be the one that is asked in.
func (in *Inquiry) IsOf(turnID string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.turnID == turnID
}

// Unheard notes that a question was not admitted.
func (in *Inquiry) Unheard() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.muted++
	in.wake()
}

// ErrWithdrawn is why a question is not asked that codex needs no answer to any more.
var ErrWithdrawn = errors.New("codex has withdrawn it")

var (
	errTurnEnded = errors.New("the turn has ended")
	errTooMany   = errors.New("too many questions are open in its context (RUNTIME_MAX_CONTEXT_QUESTIONS)")
)

// Add has a question be put to the turn, by when it is to be answered. Its error says why it is not.
func (in *Inquiry) Add(q *Question) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.twice = in.twice || in.clashesLocked(q) // also if it is not asked: codex has let go of the first
	switch {
	case in.closed:
		return errTurnEnded
	case in.gone[requestKey(q.Req.ID)]:
		return ErrWithdrawn
	case len(in.fresh)+len(in.posed) >= in.Bounds.Most: // a turn is all that asks in a context
		in.excess++
		in.wake()
		return errTooMany
	}
	if ttl := in.Bounds.TTL; ttl > 0 {
		q.Deadline = time.Now().Add(ttl)
	}
	in.fresh = append(in.fresh, q)
	in.wake()
	return nil
}

// Shut takes no more questions: the turn is being ended, and those that are open
// end with it.
func (in *Inquiry) Shut() {
	in.over()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
}

// Exceeded returns how many questions were beyond the most since it was called last.
func (in *Inquiry) Exceeded() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n, in.excess = in.excess, 0
	return n
}

// ExceededMute returns how many questions were not admitted since it was called last.
func (in *Inquiry) ExceededMute() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n, in.muted = in.muted, 0
	return n
}

// Settle takes a question away that codex needs no answer to any more. It reports
// whether it was still there: only one takes it, and that one answers codex and closes
// [Question.Settled].
func (in *Inquiry) Settle(q *Question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.removeLocked(q) {
		return false
	}
	if q.Untold() {
		in.news = append(in.news, agent.Answered{ID: q.ID})
	}
	in.wake()
	return true
}

// removeLocked reports whether the question was there.
func (in *Inquiry) removeLocked(q *Question) bool {
	before := len(in.fresh) + len(in.posed) + len(in.given)
	for _, list := range []*[]*Question{&in.fresh, &in.posed, &in.given} {
		*list = slices.DeleteFunc(*list, func(other *Question) bool { return other == q })
	}
	return len(in.fresh)+len(in.posed)+len(in.given) < before
}

// Retract takes back a question that the observer is not told of, and reports whether it was
// still there.
func (in *Inquiry) Retract(q *Question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.removeLocked(q)
}

// Standing counts the questions that are open, and those whose answers codex does not
// have yet.
func (in *Inquiry) Standing() (open, given int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.fresh) + len(in.posed), len(in.given)
}

// CalledOff reports whether an answer has ended the turn.
func (in *Inquiry) CalledOff() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.off
}

// Take returns what is to be told to the observer: questions, which have their
// ids from now on, and which ones are open no more.
func (in *Inquiry) Take(turnID string) (fresh []*Question, news []agent.Answered) {
	in.mu.Lock()
	defer in.mu.Unlock()
	fresh, news = in.fresh, in.news
	in.fresh, in.news = nil, nil
	slices.SortFunc(fresh, func(a, b *Question) int { return cmp.Compare(a.Req.Seq(), b.Req.Seq()) })
	for _, q := range fresh {
		in.count++
		q.ID = questionID(turnID, in.count)
	}
	in.posed = append(in.posed, fresh...)
	return fresh, news
}

// questionID names the nth question of a turn. Codex's ids of turns are UUIDs.
func questionID(turnID string, n int) string { return fmt.Sprintf("%s-%d", turnID, n) }

// give answers a question, and reports whether it was open. The turn hands the answer
// to codex.
func (in *Inquiry) give(q *Question, r Response) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if q.Given != nil || !in.removeLocked(q) {
		return false
	}
	if r.Note != "" && q.ID != "" {
		in.news = append(in.news, agent.Answered{ID: q.ID, Note: r.Note})
	}
	q.Given = &r
	in.given = append(in.given, q)
	in.wake()
	return true
}

// Answers are those that codex does not have yet.
func (in *Inquiry) Answers() []*Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.given)
}

// HandOver takes an answer that codex is about to get, and reports whether it was
// still there, and goes to what was asked.
func (in *Inquiry) HandOver(q *Question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.twice {
		return false
	}
	in.off = in.off || q.Given.Ends
	return in.removeLocked(q)
}

// find returns the question that the observer was told of by an id; nil if it is not open.
func (in *Inquiry) find(id string) *Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := slices.IndexFunc(in.posed, func(q *Question) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	return in.posed[i]
}

// Withdraw returns the open question of a request's id. Requests and notifications come
// here by ways of their own: one of the thread's own that is not here yet is not asked
// any more.
func (in *Inquiry) Withdraw(requestID []byte, own bool) *Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := requestKey(requestID)
	for _, q := range slices.Concat(in.posed, in.fresh, in.given) {
		if requestKey(q.Req.ID) == key {
			return q
		}
	}
	if own {
		in.gone[key] = true
	}
	return nil
}

func requestKey(id []byte) string { return string(bytes.TrimSpace(id)) }

// clashesLocked reports whether codex has put q in the place of another question.
func (in *Inquiry) clashesLocked(q *Question) bool {
	return q.Asks.Key != "" && slices.ContainsFunc(slices.Concat(in.fresh, in.posed, in.given), func(other *Question) bool {
		return other.Asks.Key == q.Asks.Key && other.Req.ThreadID == q.Req.ThreadID
	})
}

// Doubt notes that one id stands for two calls.
func (in *Inquiry) Doubt() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.twice = true
	in.wake()
}

// Doubted reports whether something is asked of which it cannot be told what would be allowed.
func (in *Inquiry) Doubted() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.twice && len(in.fresh)+len(in.posed)+len(in.given) > 0
}

// Turn is the one that is asked in, which is waited for until it is known, or there is none.
func (in *Inquiry) Turn(ctx context.Context) string {
	select {
	case <-in.turnKnown:
	case <-in.Calls.Done():
	case <-ctx.Done():
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.turnID
}

// close takes no more questions. It returns those that are left, and the ids of those that are open for all
// that the observer knows.
func (in *Inquiry) close() (left []*Question, posed []string) {
	in.over()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	left = slices.Concat(in.posed, in.fresh, in.given)
	for _, q := range slices.Concat(in.posed, in.given) {
		if q.Untold() {
			posed = append(posed, q.ID)
		}
	}
	for _, untold := range in.news {
		posed = append(posed, untold.ID)
	}
	in.posed, in.fresh, in.given, in.news = nil, nil, nil, nil
	return left, posed
}
