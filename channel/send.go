package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// sendLimit is that of one try: a peer's turn is waited for. It knows the same message when it comes again.
const sendLimit = 5 * time.Minute

// Send implements [deliver.Sender]. What stood in the list of those that are due may be
// over: the one before may have been this one.
func (r *replies) Send(ctx context.Context, one *reply) deliver.Outcome {
	row, err := r.cfg.Store.Reply(ctx, one.ID)
	out := deliver.Outcome{
		Err: err, Tries: row.Tries, Created: row.Created, Log: []any{"workspace", one.Workspace, "chat", one.Chat, "reply", one.ID},
	}
	switch {
	case errors.Is(err, store.ErrUnknown):
		return deliver.Outcome{}
	case err != nil || time.Until(row.Due) > 0:
		return out
	}
	one.InboxReply, one.unknown = row, true
	out.Verdict, out.Err = r.send(ctx, one)
	out.Wait, _ = platform.Again(out.Err)
	if ctx.Err() == nil && silent(out.Err) {
		one.space.conn.suspect()
	}
	if out.Verdict == deliver.Arrived {
		out.Log = append(out.Log, "chars", len(one.says.Text), "files", len(one.says.Attached))
	}
	return out
}

// send sends a reply. The user's are tried without an end, and so is what is in the way of
// sending one.
func (r *replies) send(ctx context.Context, one *reply) (deliver.Verdict, error) {
	if err := json.Unmarshal(one.Body, &one.says); err != nil {
		return deliver.Insist, fmt.Errorf("it cannot be read: %w", err)
	}
	if !one.Tried.IsZero() && one.Peer == "" {
		switch there, err := r.arrived(ctx, one); {
		case err != nil:
			return deliver.Insist, err
		case there:
			one.told(nil)
			return deliver.Dropped, nil
		}
	}
	one.unknown = false
	if err := r.attach(ctx, one); err != nil {
		return deliver.Insist, err
	}
	if err := r.cfg.Store.BeginReply(ctx, one.ID); err != nil {
		return deliver.Insist, err
	}
	err := r.post(ctx, one)
	one.unknown = err != nil && !platform.Undone(err)
	switch verdict := deliver.VerdictOn(err); {
	case verdict == deliver.Refused && one.says.Instead:
		r.cfg.Logger.Warn("the sender cannot be told that a reply was refused", "reply", one.ID, "err", err)
		return deliver.Dropped, nil
	case verdict == deliver.Again && one.Peer == "":
		return deliver.Insist, err
	default:
		return verdict, err
	}
}

func (r *replies) post(ctx context.Context, one *reply) error {
	ctx = platform.Once(ctx)
	if one.Peer == "" {
		one.telling()
		err := one.space.Platform.Notify(ctx, one.says.Text, one.says.Attached...)
		one.told(err)
		return err
	}
	_, err := one.space.Platform.Send(ctx, one.Peer, platform.Message{
		ID: one.ID, Text: one.says.Text, Limit: sendLimit,
		Metadata: map[string]any{platform.NoAnswer: true, "source_workspace_id": one.Workspace},
	})
	if _, taken := errors.AsType[*platform.TakenError](err); taken {
		r.cfg.Logger.Info("a peer has got a reply, and answers it with an error", "reply", one.ID, "err", err)
		err = nil
	}
	if err == nil && one.space.Replied != nil {
		one.space.Replied(one.Peer, one.says.Text)
	}
	return err
}

func (one *reply) telling() {
	if one.space.Telling != nil {
		one.space.Telling(one.Chat, one.ID)
	}
}

func (one *reply) told(err error) {
	if one.space.Told != nil {
		one.space.Told(one.Chat, one.ID, err)
	}
}

// silent reports whether a platform has not answered, or not as itself.
func silent(err error) bool {
	_, again := platform.Again(err)
	return again && (platform.StatusOf(err) == 0 || platform.StatusOf(err) >= 500)
}
