package executor

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// tellQuestions tells the observer what codex asks, and what it needs no answer to any
// more. What codex has said before it asked is handled first: the files of a
// change stand there. It returns the turn's end if that is among it.
func (t *turn) tellQuestions() *Ended {
	for {
		note, ok := t.c.events.Poll()
		if !ok {
			break
		}
		if end := t.handle(note); end != nil {
			return end
		}
	}
	if t.stopping != nil { // nobody is asked any more
		return nil
	}
	fresh, news := t.inquiry.take(t.id)
	with := posing{redact: t.e.cfg.Redact, changes: func(itemID string) []appserver.FileChange { return t.record.changes[itemID] }}
	for _, q := range fresh {
		t.job.observe(q.asked(with))
	}
	for _, answered := range news {
		t.job.observe(answered)
	}
	t.alive()
	return nil
}

// endQuestions declines what is still asked when the turn has ended.
func (t *turn) endQuestions() {
	t.unanswered = append(t.unanswered, t.e.closeInquiry(t.c.threadID, t.inquiry)...)
}

// withdraw tells the observer that nobody needs the answers any more, and why,
// where the job goes on after the turn.
func (t *turn) withdraw(why string) {
	t.endQuestions()
	for _, id := range t.unanswered {
		t.job.observe(Answered{ID: id, Note: why})
	}
	t.unanswered = nil
}

// A clock measures how long a turn has run, without the time in which codex has
// waited for answers. The zero value is of a turn that may run for ever.
type clock struct {
	on    bool
	left  time.Duration
	since time.Time // running since; zero while it rests
}

// wind starts a clock that rests. If it does, it returns what is left.
func (c *clock) wind(now time.Time) (left time.Duration, wound bool) {
	if !c.on || !c.since.IsZero() {
		return 0, false
	}
	c.since = now
	return max(c.left, time.Millisecond), true
}

func (c *clock) rest(now time.Time) {
	if c.since.IsZero() {
		return
	}
	c.left -= now.Sub(c.since)
	c.since = time.Time{}
}

// rest stops the turn's timers while codex waits for an answer.
func (t *turn) rest() {
	t.clock.rest(time.Now())
	t.attention.after(0, timerTurn)
	t.attention.after(0, timerIdle)
	t.attention.after(0, timerItem)
}
