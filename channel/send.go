package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	sendLimit = 5 * time.Minute // of one try: a peer's turn is waited for. It knows the same message when it comes again
	// settleLimit is what the note of a reply that was sent gets when we are told to stop.
	settleLimit = 5 * time.Second
)

// send tries a reply once, and notes what became of it. What stood in the list of those
// that are due may be over: the one before may have been this one.
func (s *sender) send(ctx context.Context, space *space, listed store.InboxReply) {
	st, log := s.channel.cfg.Store, s.channel.log
	if s.isDone(listed.ID) {
		s.sent(ctx, listed)
		return
	}
	r, err := st.DueReply(ctx, listed.ID)
	if errors.Is(err, store.ErrUnknown) || err == nil && time.Until(r.Due) > 0 {
		return
	}
	var says said
	if err != nil {
		r = listed
	} else {
		err = json.Unmarshal(r.Body, &says)
	}
	if err != nil {
		log.Error("a reply cannot be read; this is tried again", "reply", r.ID, "err", err)
		s.putOff(ctx, r, err, true)
		return
	}
	if !r.Tried.IsZero() && r.Peer == "" {
		switch there, err := s.there(ctx, space, r, says); {
		case err != nil:
			s.putOff(ctx, r, err, true)
			return
		case there:
			space.told(r, nil)
			s.sent(ctx, r)
			return
		}
	}
	if err := s.attach(ctx, space, r, &says); err != nil {
		s.putOff(ctx, r, err, false)
		return
	}
	if err := st.TryReply(ctx, r.ID); err != nil {
		s.putOff(ctx, r, err, false)
		return
	}
	s.settle(ctx, r, says, s.post(ctx, space, r, says))
}

// post sends the reply.
func (s *sender) post(ctx context.Context, space *space, r store.InboxReply, says said) error {
	ctx = platform.Once(ctx)
	if r.Peer == "" {
		space.telling(r)
		err := space.Platform.Notify(ctx, says.Text, says.Attached...)
		space.told(r, err)
		return err
	}
	_, err := space.Platform.Send(ctx, r.Peer, platform.Message{
		ID: r.ID, Text: says.Text, Limit: sendLimit,
		Metadata: map[string]any{Marker: true, "source_workspace_id": space.ID},
	})
	if _, taken := errors.AsType[*platform.TakenError](err); taken {
		s.channel.log.Info("a peer has got a reply, and answers it with an error", "reply", r.ID, "err", err)
		err = nil
	}
	if err == nil && space.Replied != nil {
		space.Replied(r.Peer, says.Text)
	}
	return err
}

func (s *space) telling(r store.InboxReply) {
	if s.Telling != nil {
		s.Telling(r.Chat, r.ID)
	}
}

func (s *space) told(r store.InboxReply, err error) {
	if s.Told != nil {
		s.Told(r.Chat, r.ID, err)
	}
}

// settle notes what became of a try.
func (s *sender) settle(ctx context.Context, r store.InboxReply, says said, err error) {
	log := s.channel.log.With("workspace", r.Workspace, "chat", r.Chat, "reply", r.ID)
	refused, isRefused := errors.AsType[*platform.Error](err)
	switch {
	case err == nil:
		s.channel.cfg.Metrics.Replied(r.Workspace, true)
		log.Info("a reply was sent", "chars", len(says.Text), "files", len(says.Attached))
		s.sent(ctx, r)
	case ctx.Err() != nil: // we were told to stop; the next process finds out
	case isRefused && refused.Permanent() && says.Instead:
		log.Warn("the sender cannot be told that a reply was refused", "err", err)
		s.sent(ctx, r)
	case isRefused && refused.Permanent():
		s.channel.cfg.Metrics.Replied(r.Workspace, false)
		log.Error("the platform refuses a reply for good; it is kept as a dead letter (runtime channel dead)", "err", err)
		s.persist(ctx, func(ctx context.Context) error {
			return s.channel.cfg.Store.DeadReply(ctx, r.ID, err.Error(), instead(r, refused))
		})
	case untaken(r):
		s.channel.cfg.Metrics.Replied(r.Workspace, false)
		log.Error("another agent does not take a reply; it is kept as a dead letter (runtime channel dead)", "tries", r.Tries+1, "err", err)
		s.persist(ctx, func(ctx context.Context) error { return s.channel.cfg.Store.DeadReply(ctx, r.ID, err.Error(), nil) })
	default:
		log.Warn("a reply could not be sent; this is tried again, without a second turn", "tries", r.Tries+1, "err", err)
		s.putOff(ctx, r, err, !platform.Undone(err))
	}
}

// untaken reports whether another agent has had its time to take a reply.
func untaken(r store.InboxReply) bool {
	return r.Peer != "" && deliver.IsOver(r.Tries+1, time.Since(r.Created))
}

// instead is what the sender is told in the place of a reply that was refused.
func instead(r store.InboxReply, refused *platform.Error) *store.InboxReply {
	text := fmt.Sprintf("[codex error] There is a reply to your message, but the platform does not take it (HTTP %d", refused.Status)
	if refused.Reason != "" {
		text += ": " + refused.Reason
	}
	text += "). It is kept where the agent runs: runtime channel dead retry " + r.ID + " sends it again."
	return &store.InboxReply{
		ID: r.ID + "-refused", Workspace: r.Workspace, Chat: r.Chat, Peer: r.Peer, Task: r.Task, Final: r.Final,
		Body: said{Text: text, Instead: true, Settled: true}.encode(), Digest: digestOf(text),
	}
}

// sent notes that a reply has arrived. That must not be lost to our own end, nor to a
// full disk: it would be sent again.
func (s *sender) sent(ctx context.Context, r store.InboxReply) {
	s.setDone(r.ID, true)
	if s.persist(ctx, func(ctx context.Context) error { return s.channel.cfg.Store.SentReply(ctx, r.ID) }) {
		s.setDone(r.ID, false)
	}
}

// persist tries a write until the store takes it, beyond the end of ctx for a moment.
func (s *sender) persist(ctx context.Context, write func(context.Context) error) bool {
	for {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
		err := write(limited)
		cancel()
		if err == nil {
			return true
		}
		s.channel.log.Error("the store does not take what became of a reply; this is tried again", "err", err)
		if !sleep.For(ctx, storePause) {
			return false
		}
	}
}

func (s *sender) putOff(ctx context.Context, r store.InboxReply, cause error, unknown bool) {
	if ctx.Err() != nil {
		return
	}
	if space := s.channel.spaces[r.Workspace]; space != nil && silent(cause) {
		space.line.suspect()
		poke(space.poller.wake)
	}
	due := time.Now().Add(pause(r.Tries, cause))
	err := s.channel.cfg.Store.PutOffReply(ctx, r.ID, due, cause.Error(), unknown)
	if err != nil && ctx.Err() == nil {
		s.channel.log.Error("the store does not take what became of a reply; it is tried again soon", "reply", r.ID, "err", err)
		sleep.For(ctx, storePause)
	}
}

// silent reports whether a platform has not answered, or not as itself.
func silent(err error) bool {
	_, again := platform.Again(err)
	return again && (platform.StatusOf(err) == 0 || platform.StatusOf(err) >= 500)
}

func (s *sender) isDone(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[id]
}

func (s *sender) setDone(id string, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[id] = done; !done {
		delete(s.done, id)
	}
}
