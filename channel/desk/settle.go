package desk

import (
	"context"
	"errors"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
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

// A Name names a message.
type Name struct {
	Workspace string // at which it has arrived; "" where its id is the only one of that name
	ID        string
}

// ErrSeveral says that messages of several workspaces have the id.
var ErrSeveral = errors.New("messages of several workspaces have this id: name the workspace too")

// Reply has the answer to a message kept, to be sent. When it has returned nil, the answer survives the end of the
// process, and no other is taken. Otherwise what has become of the message says why it was not taken.
func (d *Desk) Reply(ctx context.Context, of Name, text string, files ...channel.File) (channel.Message, Fate, error) {
	return d.settle(ctx, of, channel.Answer{Text: text, Files: files, Final: true})
}

// Pop takes a message off the desk that gets no answer. When it has returned nil, that survives the end of the process.
func (d *Desk) Pop(ctx context.Context, of Name) (channel.Message, Fate, error) {
	return d.settle(ctx, of, channel.Answer{Final: true, Read: true})
}

// ErrNotThere says that a message does not lie on the desk, or not any more.
var ErrNotThere = errors.New("the message does not wait here")

func (d *Desk) settle(ctx context.Context, of Name, a channel.Answer) (channel.Message, Fate, error) {
	of, err := d.one(ctx, of)
	if err != nil {
		return channel.Message{}, Unknown, err
	}
	it, err := d.leave(of, a)
	if err != nil {
		fate, errFate := d.Fate(ctx, of)
		return channel.Message{}, fate, errors.Join(err, errFate)
	}
	fate, err := d.settled(ctx, it)
	return it.Message, fate, err
}

// settled waits until the store has what is to become of a message, or that can be waited for no longer.
func (d *Desk) settled(ctx context.Context, it *item) (fate Fate, err error) {
	for {
		d.mu.Lock()
		news, gone := d.news, d.left[it.Workspace]
		d.mu.Unlock()
		fate, err = Leaving, nil
		if gone {
			fate, err = Gone, ErrNotThere
		} else {
			select {
			case <-it.settled:
			case <-news:
				continue
			case <-d.ended:
				err = ErrClosed
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		select {
		case <-it.settled:
			return Kept, nil
		default:
			return fate, err
		}
	}
}

// one is the name of a message with its workspace, as far as that is known.
func (d *Desk) one(ctx context.Context, of Name) (Name, error) {
	if of.Workspace != "" || len(d.cfg.Workspaces) == 1 {
		for _, workspace := range d.cfg.Workspaces {
			if of.Workspace == "" || strings.EqualFold(workspace, of.Workspace) {
				of.Workspace = workspace
			}
		}
		return of, nil
	}
	var found []string
	for _, workspace := range d.cfg.Workspaces {
		_, err := d.cfg.Journal.InboxRowOf(ctx, workspace, of.ID)
		switch {
		case err == nil:
			found = append(found, workspace)
		case !errors.Is(err, store.ErrUnknown):
			return of, err
		}
	}
	switch len(found) {
	case 0: // or it is spelled in another case
		return of, nil
	case 1:
		of.Workspace = found[0]
		return of, nil
	}
	return of, ErrSeveral
}

// leave says what is to become of a message that lies there.
func (d *Desk) leave(of Name, a channel.Answer) (*item, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed != nil {
		return nil, d.closed
	}
	it := d.named(of)
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
func (d *Desk) Fate(ctx context.Context, of Name) (Fate, error) {
	d.mu.Lock()
	it := d.named(of)
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
		if of.Workspace != "" && of.Workspace != workspace {
			continue
		}
		row, err := d.cfg.Journal.InboxRowOf(ctx, workspace, of.ID)
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
