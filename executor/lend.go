package executor

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// input is what the next attempt at the job is given.
func (j *job) input() []appserver.UserInput {
	switch {
	case j.goOn && j.Peer:
		return []appserver.UserInput{appserver.Text(goingOnForPeer)}
	case j.goOn:
		return []appserver.UserInput{appserver.Text(goingOn)}
	}
	return j.Input
}

// lend is the way of a job's input to codex, for one attempt. An error says that ctx has
// ended meanwhile; what there is by then is given back all the same.
func (e *Executor) lend(ctx context.Context, j *job) (input []appserver.UserInput, giveBack func(), err error) {
	input = j.input()
	if j.Lend == nil {
		return input, func() {}, nil
	}
	lent, giveBack := j.Lend(ctx, input)
	if err := ctx.Err(); err != nil {
		return nil, giveBack, err
	}
	return lent, giveBack, nil
}
