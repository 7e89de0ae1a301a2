package executor

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// input is what the next attempt at the job is given.
func (j *job) input() []agent.Input {
	switch {
	case j.goOn && j.Peer:
		return []agent.Input{agent.Text(goingOnForPeer)}
	case j.goOn:
		return []agent.Input{agent.Text(goingOn)}
	}
	return j.Input
}

// lend is the way of a job's input to codex, for one attempt. An error says that ctx has
// ended meanwhile; what there is by then is given back all the same.
func (e *Executor) lend(ctx context.Context, j *job) (input []agent.Input, giveBack func(), err error) {
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
