package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/insist"
)

// Steer hands a message to the turn of the job into, which must be of the same
// context and run, or be about to run again. It returns at once; its observer is
// told [agent.Steered] or [agent.Unsteered]. A message that is taken ends with that turn,
// whose [agent.Ended] names it. One that is not has a turn of its own, in the place in
// the queue that is its own by the time of its acceptance: like any other job from
// then on. [ErrNotRunning] says that there is no such turn; nothing has been
// accepted then.
//
// A job that an earlier process has begun ([Job.Accepted]) may also be handed to
// one that waits: what became of both is found out when its turn comes.
func (e *Executor) Steer(into string, j Job, observe Observer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	target := e.jobs[into]
	if target == nil || target.Context != j.Context || !target.takesLocked(&j) {
		return fmt.Errorf("%w: %q", ErrNotRunning, into)
	}
	if err := e.mayAcceptLocked(&j, e.queues[j.Context]); err != nil {
		return err
	}
	s := e.acceptLocked(j, observe)
	s.into, s.pause.gone = target, target.stage == stageRunning // then it waits for nothing but the turn
	if j.Cut == nil {
		e.enterLocked(s, stageOffered)
	} else {
		e.enterLocked(s, stageSent)
		s.attempt = Attempt{Job: j.ID, N: j.Cut.Attempt, Conversation: j.Context, Thread: j.Cut.ThreadID}
	}
	target.steers = append(target.steers, s)
	target.steering.wakeLocked()
	return nil
}

// takesLocked reports whether a message may be handed to the turn of the job.
func (j *job) takesLocked(message *Job) bool {
	switch j.stage {
	case stageRunning:
		return true
	case stageQueued, stageServed, stageBegun:
		return message.Accepted
	}
	return false
}

// openSteering lets messages into the turn, those first that were in an attempt
// before this one: it is void.
func (e *Executor) openSteering(j *job, t Turn, id string) *steering {
	l := &steering{e: e, j: j, t: t, turn: id}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for _, s := range e.steersOf(j) {
		s.pause.leave(s.observe)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sendAgainLocked(j)
	if j.stage == stageBegun { // else an attempt before this one was a turn, too
		e.enterLocked(j, stageRunning)
	}
	j.steering = l
	l.wakeLocked()
	return l
}

// sendAgainLocked has what an attempt at j was sent be sent to the next one: that
// attempt is void.
func (e *Executor) sendAgainLocked(j *job) {
	for _, s := range j.steers {
		switch {
		case s.stage == stageOffered:
		case s.stage == stageTaken && j.goOn: // it is in what the thread has kept
		case s.ctx.Err() != nil: // it ends with j
		default:
			e.enterLocked(s, stageOffered)
		}
	}
}

// wakeLocked has the line worked off. A nil line belongs to no turn yet.
func (l *steering) wakeLocked() {
	if l == nil || l.busy || l.j.stage == stageClosing || !slices.ContainsFunc(l.j.steers, unsent) {
		return
	}
	l.busy, l.idle = true, make(chan struct{})
	l.e.wg.Go(l.work)
}

func unsent(s *job) bool { return s.stage == stageOffered }

// close ends the line with its turn. What was not answered by then is not known.
func (l *steering) close() {
	e := l.e
	e.mu.Lock()
	l.j.steering = nil
	idle := l.idle
	e.mu.Unlock()
	l.stop()
	if idle != nil {
		<-idle
	}
	for _, giveBack := range l.lent {
		giveBack()
	}
}

// work sends what waits. It is a goroutine while there is something.
func (l *steering) work() {
	for s := l.next(); s != nil; s = l.next() {
		l.send(s)
	}
}

// next returns the next message to send, or nil and says that the line is idle.
func (l *steering) next() *job {
	e := l.e
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(l.j.steers, unsent)
	if i < 0 || l.j.stage == stageClosing || l.ctx.Err() != nil {
		l.busy = false
		close(l.idle)
		return nil
	}
	s := l.j.steers[i]
	e.enterLocked(s, stageSent)
	return s
}

// send offers one message to the agent, once.
func (l *steering) send(s *job) {
	e := l.e
	if err := l.begin(s); err != nil { // the turn has ended first
		l.unsend(s)
		return
	}
	input, giveBack, err := e.lend(l.ctx, s)
	l.lent = append(l.lent, giveBack)
	if err != nil { // likewise
		l.unsend(s)
		return
	}
	err = l.t.Steer(l.ctx, s.attempt, input)
	switch {
	case err == nil:
		e.steered(s, l.turn)
	case errors.Is(err, ErrNotTaken):
		e.log.Info("codex did not take a message into the running turn; it gets its own", "job", s.ID, "turn_id", l.turn, "err", err)
		e.requeue(l.j, s, 1)
	default:
		e.log.Info("whether codex took a message into the running turn is not known yet", "job", s.ID, "turn_id", l.turn, "err", err)
	}
}

// unsend says of a message that the agent was not offered it.
func (l *steering) unsend(s *job) {
	l.e.enter(s, stageOffered)
}

// begin writes the attempt down. A number that may have been written is not used
// again.
func (l *steering) begin(s *job) error {
	e := l.e
	e.mu.Lock() // arrived looks at this one, too
	s.attempt = Attempt{Job: s.ID, N: s.attempt.N + 1, Conversation: l.j.Context, Thread: l.j.attempt.Thread, Tools: l.j.attempt.Tools}
	attempt := s.attempt
	e.mu.Unlock()
	return insist.Until(l.ctx, e.log, "begin an attempt", func(ctx context.Context) error {
		return e.cfg.Journal.Begin(ctx, attempt)
	}, s.journalFull)
}

// steered says, once, that the agent has taken a message.
func (e *Executor) steered(s *job, turnID string) {
	e.mu.Lock()
	said := s.steered
	s.steered = true
	e.mu.Unlock()
	if !said {
		s.observe(agent.Steered{TurnID: turnID})
	}
}

// arrived notes that a message stands in the history of the turn of j.
func (e *Executor) arrived(j *job, turnID, clientID string) {
	e.mu.Lock()
	s := j.sentLocked(clientID)
	if s != nil && s.stage == stageSent {
		e.enterLocked(s, stageTaken)
	}
	e.mu.Unlock()
	if s != nil {
		e.steered(s, turnID)
	}
}

// passedOver notes that a turn of j, which has completed, has not read a message: it is as one that was
// not sent.
func (e *Executor) passedOver(j *job, clientID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := j.sentLocked(clientID); s != nil {
		e.enterLocked(s, stageOffered)
	}
}

// sentLocked is the message that was sent to a turn of j as that attempt; nil if there is none.
func (j *job) sentLocked(clientID string) *job {
	i := slices.IndexFunc(j.steers, func(s *job) bool {
		return (s.stage == stageSent || s.stage == stageTaken) && s.attempt.ClientID() == clientID
	})
	if i < 0 {
		return nil
	}
	return j.steers[i]
}
