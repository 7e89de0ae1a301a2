package channel

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	// Replies to peers that are under way at the same time: each waits for minutes where a
	// platform does not answer, so no workspace may take the places of the others.
	mostSending      = 128 // in all, while each workspace has its least
	mostOfWorkspace  = 32
	leastOfWorkspace = 4
)

// A sender sends replies: those of a chat in their order, those of several at once.
type sender struct {
	channel *Channel
	wake    chan struct{} // has room for one
	wg      sync.WaitGroup

	share int // of a workspace, of the replies to peers that are under way

	mu    sync.Mutex
	busy  map[string]bool        // the chats of which one is under way
	taken map[string]int         // by workspace: replies to peers that are under way
	lifts map[string]*sync.Mutex // by workspace: held while files are put on its platform
	done  map[string]bool        // replies that were sent, which could not be noted
}

func newSender(c *Channel) *sender {
	share := mostSending / max(len(c.cfg.Workspaces), 1)
	return &sender{
		channel: c, wake: make(chan struct{}, 1), share: min(max(share, leastOfWorkspace), mostOfWorkspace),
		busy: map[string]bool{}, taken: map[string]int{}, lifts: map[string]*sync.Mutex{}, done: map[string]bool{},
	}
}

func (s *sender) poke() { poke(s.wake) }

// run sends what is due until ctx ends.
func (s *sender) run(ctx context.Context) {
	defer s.wg.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		timer.Reset(s.round(ctx))
	}
}

// round begins to send what is due, and says when to look again.
func (s *sender) round(ctx context.Context) time.Duration {
	due, err := s.channel.cfg.Store.RepliesDue(ctx, s.channel.mostDue())
	if err != nil {
		return storePause
	}
	next := time.Hour // or when somebody wakes us
	for _, r := range due {
		space := s.channel.spaces[r.Workspace]
		if space == nil || !space.line.isUp() {
			continue
		}
		if wait := time.Until(r.Due); wait > 0 {
			next = min(next, wait)
			continue
		}
		if !s.begin(r) {
			continue
		}
		s.wg.Go(func() {
			s.send(ctx, space, r)
			s.end(r)
		})
	}
	return next
}

// mostDue is how many chats may have replies to send: those of a platform that does not
// answer must not hide the others.
func (c *Channel) mostDue() int { return (mostOpen + timeRows) * max(len(c.spaces), 1) }

func key(r store.InboxReply) string { return r.Workspace + " " + r.Chat }

// begin reports whether the reply may be sent now.
func (s *sender) begin(r store.InboxReply) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[key(r)] || r.Peer != "" && s.taken[r.Workspace] >= s.share {
		return false
	}
	s.busy[key(r)] = true
	if r.Peer != "" {
		s.taken[r.Workspace]++
	}
	return true
}

func (s *sender) end(r store.InboxReply) {
	s.mu.Lock()
	delete(s.busy, key(r))
	if r.Peer != "" {
		s.taken[r.Workspace]--
	}
	s.mu.Unlock()
	s.channel.changed()
}

// lift is held while files are put on the platform of a workspace.
func (s *sender) lift(workspace string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lifts[workspace] == nil {
		s.lifts[workspace] = &sync.Mutex{}
	}
	return s.lifts[workspace]
}
