package channel

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	// freeBody is how large the body of a row may be that waits for no place.
	freeBody = 64 << 10
	// mostBodies is how many of a workspace that are larger are in memory at once, beside
	// the one of its user's.
	mostBodies = 2
)

// An overError says that a row gets no answer, and why.
type overError struct{ note string }

func (e *overError) Error() string { return e.note }

// hand gives a row to the engine. What it says is in memory for just that long: as many
// rows may wait as there are chats, and one that has to is read again.
func (d *chats) hand(ctx context.Context, s *space, row store.InboxRow) (task string, err error) {
	leave, err := s.place(ctx, row)
	if err != nil {
		return "", err
	}
	defer leave()
	e, err := d.kept(ctx, row)
	if err != nil {
		return "", err
	}
	m, err := d.message(ctx, s, row, e)
	if err != nil {
		return "", err
	}
	if row.Kind == kindDelegation && s.has(e) {
		return "", &overError{"a call of the agent's has it"}
	}
	task, err = d.cfg.Engine.Give(ctx, m)
	if err == nil {
		d.log.Info("a message was taken", "workspace", row.Workspace, "chat", row.Chat, "activity", row.Activity, "task_id", task, "chars", len(m.Text))
	}
	return task, err
}

// place waits until a large row may be in memory. The user's chat gives one at a time
// anyway, and must not wait for those of other agents, whose files may come slowly.
func (s *space) place(ctx context.Context, row store.InboxRow) (leave func(), err error) {
	if row.Size <= freeBody || row.Chat == s.names.canvas() {
		return func() {}, nil
	}
	select {
	case s.bodies <- struct{}{}:
		return func() { <-s.bodies }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// kept is what the store has of a row: an [*overError] where that is not to be given.
func (d *chats) kept(ctx context.Context, row store.InboxRow) (entry, error) {
	for {
		body, err := d.cfg.Store.InboxBody(ctx, row.N)
		switch {
		case err == nil:
			e, err := decodeEntry(body)
			if err != nil {
				d.log.Error("a row of the inbox is damaged; it is given up", "workspace", row.Workspace, "activity", row.Activity, "err", err)
				err = &overError{"it was damaged"}
			}
			return e, err
		case errors.Is(err, store.ErrUnknown):
			return entry{}, &overError{"it was answered since it was listed"}
		}
		if ctx.Err() == nil {
			d.log.Error("a message cannot be read from the store; this is tried again", "activity", row.Activity, "err", err)
		}
		if !sleep.For(ctx, storePause) {
			return entry{}, context.Cause(ctx)
		}
	}
}

// message is what the engine is given of a row. One that it is not given is a
// [*RefusedError].
func (d *chats) message(ctx context.Context, s *space, row store.InboxRow, e entry) (Message, error) {
	if e = e.bounded(); e.Refused != "" {
		return Message{}, &RefusedError{Text: d.cfg.fault(e.Refused)}
	}
	for i, f := range e.Files {
		if f.URI == "" {
			continue
		}
		known, err := d.cfg.Store.InboxFile(ctx, s.ID, f.URI)
		if err == nil && known.Kind == kindUpload && known.Note != "" {
			e.Files[i].URI = known.Note
		}
	}
	return Message{
		ID: row.Activity, Conversation: row.Chat, Workspace: row.Workspace, Peer: row.Peer,
		Text: e.Text, Written: e.Written, Files: e.Files, Beside: e.Beside, Own: row.Kind != kindCanvas && row.Peer == "",
		Origin: e.Origin, N: row.N, Kind: row.Kind, Mute: row.Mute, Note: row.Note,
	}, nil
}

// has reports whether a call of codex's waits for the delegation whose end the row is, or
// has returned that.
func (s *space) has(e entry) bool {
	if s.Awaited == nil {
		return false
	}
	waits, told := s.Awaited(e.Delegation)
	return waits || told
}
