package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Fate is what has become of a message.
type Fate int

// What can have become of one.
const (
	Unknown  Fate = iota // there is no such message
	Waiting              // it lies on the desk, or is on its way there
	Leaving              // what is to become of it is not in the store yet
	Kept                 // its answer is kept, and being sent
	Answered             // its answer has arrived
	Refused              // the platform does not take its answer
	Closed               // it has none, and gets none
	Gone                 // its workspace is gone
)

// Reply has the answer to a message kept, to be sent. When it has returned nil, the answer survives the end of the
// process, and no other is taken. Otherwise what has become of the message says why it was not taken.
func (d *Desk) Reply(ctx context.Context, id string, text string, files ...channel.File) (channel.Message, Fate, error) {
	return d.settle(ctx, id, channel.Answer{Text: text, Files: files, Final: true})
}

// Pop takes a message off the desk that gets no answer. When it has returned nil, that survives the end of the process.
func (d *Desk) Pop(ctx context.Context, id string) (channel.Message, Fate, error) {
	return d.settle(ctx, id, channel.Answer{Final: true, Read: true})
}

// ErrNotThere says that a message does not lie on the desk.
var ErrNotThere = errors.New("the message does not wait here")

func (d *Desk) settle(ctx context.Context, id string, a channel.Answer) (channel.Message, Fate, error) {
	it, err := d.leave(id, a)
	if err != nil {
		fate, errFate := d.Fate(ctx, id)
		return channel.Message{}, fate, errors.Join(err, errFate)
	}
	err = nil
	select {
	case <-it.settled:
	case <-d.ended:
		err = ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	select {
	case <-it.settled:
		return it.Message, Kept, nil
	default:
		return it.Message, Leaving, err
	}
}

// leave says what is to become of a message that lies there.
func (d *Desk) leave(id string, a channel.Answer) (*item, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed != nil {
		return nil, d.closed
	}
	it := d.named(id)
	if !d.waits(it) {
		return nil, ErrNotThere
	}
	if !a.Read {
		a.ID = it.Workspace + "-" + it.ID + "-reply" // platforms are several, and so may be messages of one id
	}
	it.leaving = true
	it.verdict <- a
	d.changed()
	return it, nil
}

// Fate is what has become of a message.
func (d *Desk) Fate(ctx context.Context, id string) (Fate, error) {
	d.mu.Lock()
	it := d.named(id)
	gone, leaving := it != nil && d.left[it.Workspace], it != nil && it.leaving
	d.mu.Unlock()
	switch {
	case gone:
		return Gone, nil
	case leaving:
		return Leaving, nil
	case it != nil:
		return Waiting, nil
	}
	for _, workspace := range d.cfg.Workspaces {
		row, err := d.cfg.Journal.InboxRowOf(ctx, workspace, id)
		if err == nil {
			return fateOf(row), nil
		}
		if !errors.Is(err, store.ErrUnknown) {
			return Unknown, err
		}
	}
	return Unknown, nil
}

func fateOf(row store.InboxRow) Fate {
	switch row.State {
	case store.InboxAccepted, store.InboxGiven:
		return Waiting
	case store.InboxAnswered:
		return Kept
	case store.InboxDone:
		if row.Reply == "" {
			return Closed
		}
		return Answered
	case store.InboxDead:
		return Refused
	}
	return Closed
}

// longestNote is how much of what was told is kept with a note.
const longestNote = 200

// Telling notes, with the messages of a peer, or of the user, that were shown, that their sender is about to be told
// something. It has returned before that happens; told says what came of it.
func (d *Desk) Telling(ctx context.Context, workspace, peer, text string) (told func(error), err error) {
	shown := d.shownOf(workspace, peer)
	if len(shown) == 0 {
		return func(error) {}, nil
	}
	at := time.Now().UTC().Format(time.RFC3339)
	begins := brief.Line(text, longestNote)
	begun := fmt.Sprintf("At %s you began to send this sender: %q. Whether it arrived is not known. If it was the answer, call inbox_pop and do not answer again.", at, begins)
	if err := d.note(ctx, shown, func(string) string { return begun }); err != nil {
		return nil, err
	}
	return func(err error) {
		note := func(string) string {
			return fmt.Sprintf("At %s you sent this sender: %q. If that was the answer, call inbox_pop and do not answer again.", at, begins)
		}
		switch {
		case err != nil && !platform.Undone(err):
			return // and it is not known still
		case err != nil:
			note = func(before string) string { return before }
		}
		if err := d.note(context.WithoutCancel(ctx), shown, note); err != nil {
			d.cfg.Logger.Warn("what was said to the sender of a message could not be noted", "workspace", workspace, "err", err)
		}
	}, nil
}

// shownOf are the messages of a sender that were shown and wait, with what is noted of each.
func (d *Desk) shownOf(workspace, peer string) map[int64]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	shown := map[int64]string{}
	for _, it := range d.waiting() {
		if it.shown && it.Workspace == workspace && strings.EqualFold(it.Peer, peer) {
			shown[it.N] = it.Note
		}
	}
	return shown
}

// note notes something of messages, by what was noted before.
func (d *Desk) note(ctx context.Context, shown map[int64]string, text func(before string) string) error {
	for n, before := range shown {
		if err := d.cfg.Journal.NoteInbox(ctx, n, text(before)); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range d.items {
		if before, ok := shown[it.N]; ok {
			it.Note = text(before)
		}
	}
	return nil
}
