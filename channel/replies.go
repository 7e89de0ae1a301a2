package channel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	// Replies to peers that are under way at the same time: each waits for minutes where a
	// platform does not answer, so no workspace may take the places of the others.
	mostSending      = 128 // in all, while each workspace has its least
	mostOfWorkspace  = 32
	leastOfWorkspace = 4
)

// replies are those that the store has to be sent: those of a chat in their order, those of
// several at once. They are a [deliver.Journal], its [deliver.Sender] and its [deliver.Room].
type replies struct {
	cfg    Config
	spaces map[string]*space
	news   *pulse
	share  int // of a workspace, of the replies to peers that are under way

	mu    sync.Mutex
	taken map[string]int // by workspace: replies to peers that are under way
}

// A reply is one try of a reply.
type reply struct {
	store.InboxReply
	space   *space
	says    said
	unknown bool // whether it was sent
}

func newReplies(cfg Config, spaces map[string]*space, news *pulse) *replies {
	share := mostSending / max(len(spaces), 1)
	return &replies{
		cfg: cfg, spaces: spaces, news: news, share: min(max(share, leastOfWorkspace), mostOfWorkspace), taken: map[string]int{},
	}
}

// first returns the first reply of each chat, those of a platform that does not answer
// beside all others.
func (r *replies) first(ctx context.Context) ([]store.InboxReply, error) {
	return r.cfg.Store.FirstReplies(ctx, (mostOpen+timeRows)*max(len(r.spaces), 1))
}

// Due implements [deliver.Journal].
func (r *replies) Due(ctx context.Context, offer func(string, *reply) bool) (time.Duration, error) {
	rows, err := r.first(ctx)
	next := deliver.Idle
	for _, row := range rows {
		space := r.spaces[row.Workspace]
		switch wait := time.Until(row.Due); {
		case space == nil || !space.conn.isUp(): // the end of an outage wakes us
		case wait > 0:
			next = min(next, wait)
		default:
			offer(row.Workspace+" "+row.Chat, &reply{InboxReply: row, space: space})
		}
	}
	return next, err
}

// Begin implements [deliver.Room].
func (r *replies) Begin(one *reply) (end func(deliver.Settlement), ok bool) {
	peers := 0
	if one.Peer != "" {
		peers = 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if peers > 0 && r.taken[one.Workspace] >= r.share {
		return nil, false
	}
	r.taken[one.Workspace] += peers
	return func(deliver.Settlement) {
		r.mu.Lock()
		r.taken[one.Workspace] -= peers
		r.mu.Unlock()
		r.news.beat()
	}, true
}

// Settle implements [deliver.Journal]. A note that must not be lost to a full disk is tried
// again by the deliverer.
func (r *replies) Settle(ctx context.Context, one *reply, s deliver.Settlement) error {
	switch s.State {
	case deliver.PutOff:
		return r.cfg.Store.PutOffReply(ctx, one.ID, s.Due, s.Err.Error(), one.unknown)
	case deliver.Dead:
		err := r.cfg.Store.GiveUpReply(ctx, one.ID, s.Err.Error(), one.instead(s.Err, r.cfg))
		if err == nil {
			r.cfg.Metrics.Replied(one.Workspace, false)
			r.cfg.Logger.Error("a reply is not taken; it is kept as a dead letter (runtime channel dead)",
				"workspace", one.Workspace, "chat", one.Chat, "reply", one.ID, "tries", s.Tries, "err", s.Err)
		}
		return err
	}
	err := r.cfg.Store.FinishReply(ctx, one.ID)
	if err == nil && s.State == deliver.Sent {
		r.cfg.Metrics.Replied(one.Workspace, true)
	}
	return err
}

// instead is what the sender is told in the place of a reply that the platform has refused
// for good; nil if it has not, and is only out of time.
func (one *reply) instead(why error, cfg Config) *store.InboxReply {
	refused, ok := errors.AsType[*platform.Error](why)
	if !ok || !refused.Permanent() {
		return nil
	}
	text := cfg.fault(fmt.Sprintf("There is a reply to your message, but the platform does not take it (HTTP %d", refused.Status))
	if refused.Reason != "" {
		text += ": " + refused.Reason
	}
	text += "). It is kept where the agent runs: runtime channel dead retry " + one.ID + " sends it again."
	return &store.InboxReply{
		ID: one.ID + "-refused", Workspace: one.Workspace, Chat: one.Chat, Peer: one.Peer, Task: one.Task, Final: one.Final,
		Body: said{Text: text, Instead: true, Settled: true}.encode(), Digest: digestOf(text),
	}
}
