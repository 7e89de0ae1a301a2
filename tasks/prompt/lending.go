package prompt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// Loans have copies made of the pictures that codex is given.
type Loans struct {
	Files attach.Files
	Log   *slog.Logger
}

// Lender is what gives codex the pictures of a message, nil if it has none. They stand
// where commands write, and may have been replaced since they were looked at, by something
// that codex would unfold, or a pipe that it would wait at. So codex is given copies, and
// what is copied is looked at again; a picture that the message has brought is the one
// that was brought, or not shown.
func (l Loans) Lender(p *Prompt) agent.Lender {
	if !slices.ContainsFunc(p.Input, func(i agent.Input) bool { return i.Type == localImage }) {
		return nil
	}
	brought := p.brought // and no more of the message
	return func(ctx context.Context, input []agent.Input) ([]agent.Input, func()) {
		return l.all(ctx, brought, input)
	}
}

// all is the input with copies in the place of pictures. Brought are the digests of those
// that the message has brought.
func (l Loans) all(ctx context.Context, brought map[string]string, input []agent.Input) ([]agent.Input, func()) {
	of := &lending{Loans: l, brought: brought, copies: map[string]copied{}}
	return of.input(ctx, input), of.giveBack
}

// A lending is what codex is lent of one message, for one attempt.
type lending struct {
	Loans
	brought map[string]string // digests
	shown   gallery           // what was looked at before may have grown
	copies  map[string]copied // by the paths of what they are made of
}

// copied is what became of a picture: a copy, or why there is none.
type copied struct {
	loan attach.Loan
	why  error
}

// input is the input with copies in the place of pictures, as far as that came before ctx
// has ended.
func (l *lending) input(ctx context.Context, input []agent.Input) []agent.Input {
	lent, n := slices.Clone(input), 0
	for i, shown := range input {
		if shown.Type != localImage {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		n++
		at, why := l.one(ctx, shown.Path)
		if why != nil { // without its name, which may be the words of another agent
			lent[i] = agent.Text(fmt.Sprintf("Picture %d of this message is not shown to you: %v.", n, why))
			continue
		}
		lent[i].Path = at
	}
	return lent
}

// one returns the copy of a picture. There is one, however often the message names it.
func (l *lending) one(ctx context.Context, path string) (at string, why error) {
	room, why := l.shown.room()
	if why != nil {
		return "", why
	}
	c, known := l.copies[path]
	if !known {
		c.loan, c.why = l.lend(ctx, path, room, l.brought[path])
		l.copies[path] = c
	}
	if c.why != nil {
		return "", c.why
	}
	return c.loan.Path, l.shown.add(c.loan.Size)
}

func (l *lending) giveBack() {
	for _, c := range l.copies {
		if c.why == nil {
			c.loan.GiveBack()
		}
	}
}

// lend has a picture copied for codex. Digest is that of the picture that was brought, ""
// if it is one that stood there.
func (l Loans) lend(ctx context.Context, path string, most int64, digest string) (loan attach.Loan, why error) {
	loan, err := l.Files.Lend(ctx, path, most, func(content io.ReaderAt, found string) error {
		why = showable(content)
		if digest != "" && digest != found && (found != "" || why != nil) { // what was brought was showable
			why = errChanged
		}
		return why
	})
	if err == nil {
		return loan, nil
	}
	if ctx.Err() == nil {
		l.Log.Warn("a picture is not shown to the model", "path", path, "err", err)
	}
	if why == nil && errors.Is(err, attach.ErrTooLarge) {
		why = errMoreBytes
	}
	return attach.Loan{}, cmp.Or(why, errUnread)
}
