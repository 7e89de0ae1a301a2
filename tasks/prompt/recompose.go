package prompt

import (
	"context"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// Recompose makes the input of a message of an earlier process, and returns what gives codex
// the files of it, nil if it has none. They are looked at when its turn begins: where they
// stand is the work of commands, and a start must not wait for as many of them as messages
// can name.
func (l Loans) Recompose(p *Prompt, m *a2a.Message, from origin.Sender) (agent.Lender, error) {
	if l.Files == nil || !slices.ContainsFunc(m.Parts, attach.IsFile) {
		return nil, p.Compose(m, from, l.Files)
	}
	p.shown.unseen = true
	if err := p.gather(m, unseen{l.Files}); err != nil {
		return nil, err
	}
	p.frame(from)
	input, brought := p.Input, p.brought
	return func(ctx context.Context, of []agent.Input) ([]agent.Input, func()) {
		ahead := len(of) - len(input) // what an answer carries stands ahead of the message
		if ahead < 0 || !slices.Equal(of[ahead:], input) {
			return l.all(ctx, brought, of) // a turn that goes on is told that, and not the message
		}
		again := &Prompt{}
		if err := again.Compose(m, from, l.Files); err != nil {
			l.Log.Warn("files of a message are named to the model as the message names them", "err", err)
			return l.all(ctx, brought, of)
		}
		return l.all(ctx, again.brought, slices.Concat(of[:ahead], again.Input))
	}, nil
}

// Unseen files are not looked at: each is where its URI says.
type unseen struct{ attach.Files }

// Path implements [Files].
func (unseen) Path(uri string) (string, error) {
	path, ok := strings.CutPrefix(uri, "workspace:")
	if !ok {
		return "", attach.ErrNoFile
	}
	return path, nil
}
