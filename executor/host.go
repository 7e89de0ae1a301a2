package executor

import (
	"context"
	"slices"
)

// A Host is what a [Driver] needs of the scheduler that it works for.
type Host interface {
	// News says that something has changed of what turns may be paused for.
	News()
	// IsPaused reports whether no turn is started, because the model would refuse it.
	IsPaused() bool
	// Refused pauses all turns because of a refusal that came outside of them.
	Refused(r *Refusal)
	// Settle has [Driver.Idle] be called, if no turn is begun.
	Settle()
	// IsIdle reports whether no turn is begun.
	IsIdle() bool
	// WhoWaits reports whether a message of the user's waits for a turn, and whether there are
	// messages of other agents.
	WhoWaits() (user, peers bool)
	// AdmitMute reports whether a question of the turn of a job may wait for its answer, as far as that
	// is a matter of who has sent the message. If it may, leave is to be called when it waits no more.
	AdmitMute(job string, turn any) (leave func(), ok bool)
	// MuteNotice is what is said of a number of questions that were not admitted.
	MuteNotice(n int) string
	// AtRest waits until the end of the last job of a context is over, of which was told, and reports whether the
	// context is not in use.
	AtRest(ctx context.Context, key string) bool
}

// A hosting is the host of a driver.
type hosting struct{ e *Executor }

// News implements [Host], as do the methods below.
func (h hosting) News() { h.e.hold.news() }

func (h hosting) IsPaused() bool { return h.e.hold.look().cause != nil }

// Refused may be called while no turn is served: until it has returned the group is not empty.
func (h hosting) Refused(r *Refusal) {
	h.e.mu.Lock()
	closed := h.e.closed
	if !closed {
		h.e.wg.Add(1)
	}
	h.e.mu.Unlock()
	if closed {
		return
	}
	defer h.e.wg.Done()
	h.e.hold.refused(r)
}

func (h hosting) Settle() { h.e.slots.settle() }

func (h hosting) IsIdle() bool { return h.e.slots.isIdle() }

func (h hosting) WhoWaits() (user, peers bool) {
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	for _, j := range h.e.jobs {
		peers = peers || j.Peer
		user = user || !j.Peer && (j.stage == stageQueued || j.stage == stageServed || j.stage == stageBegun)
	}
	return user, peers
}

func (h hosting) AdmitMute(job string, turn any) (leave func(), ok bool) {
	switch {
	case !h.e.isMute(job):
		return func() {}, true
	case h.e.mutes.enter(turn, h.e.slots.canPark()):
		return func() { h.e.mutes.leave(turn) }, true
	}
	return nil, false
}

func (h hosting) MuteNotice(n int) string { return h.e.mutes.notice(n) }

// isMute reports whether the turn of a job has no message of a sender whose answers are taken.
func (e *Executor) isMute(jobID string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[jobID]
	return j != nil && j.Mute && !slices.ContainsFunc(j.steers, func(s *job) bool { return !s.Mute })
}

func (h hosting) AtRest(ctx context.Context, key string) bool { return h.e.AtRest(ctx, key) }
