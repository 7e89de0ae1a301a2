package tasks

import (
	"context"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// recompose makes the input of a message of an earlier process, and returns what gives codex
// the files of it, nil if it has none. They are looked at when its turn begins: where they
// stand is the work of commands, and a start must not wait for as many of them as messages
// can name.
func (e *Engine) recompose(in *incoming) (agent.Lender, error) {
	if e.cfg.Files == nil || !slices.ContainsFunc(in.message.Parts, isFile) {
		return nil, in.compose(e.cfg.Files)
	}
	in.shown.unseen = true
	if err := in.gather(unseen{e.cfg.Files}); err != nil {
		return nil, err
	}
	in.frame()
	message, from, input, brought := in.message, in.from, in.input, in.brought
	return func(ctx context.Context, of []agent.Input) ([]agent.Input, func()) {
		ahead := len(of) - len(input) // what an answer carries stands ahead of the message
		if ahead < 0 || !slices.Equal(of[ahead:], input) {
			return e.lendAll(ctx, brought, of) // a turn that goes on is told that, and not the message
		}
		again := &incoming{message: message, from: from}
		if err := again.compose(e.cfg.Files); err != nil {
			e.log.Warn("files of a message are named to the model as the message names them", "err", err)
			return e.lendAll(ctx, brought, of)
		}
		return e.lendAll(ctx, again.brought, slices.Concat(of[:ahead], again.input))
	}, nil
}

// Unseen files are not looked at: each is where its URI says.
type unseen struct{ Files }

// Path implements [Files].
func (unseen) Path(uri string) (string, error) {
	path, ok := strings.CutPrefix(uri, "workspace:")
	if !ok {
		return "", ErrNoFile
	}
	return path, nil
}
