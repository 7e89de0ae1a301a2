package codex

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// The model's endpoint chooses the ids of calls, and codex keeps what it asks by them: where two
// calls with one id are open, the second takes the place of the first, and the answer to the first
// question goes to the second call (seen on 0.169.0). A retry of codex's own does not do that: it
// waits for the calls of a stream that breaks. So where one id stands for two calls at once
// nothing that is asked is answered, and the turn ends.

// errTwice is the cause for which such a turn is ended.
var errTwice = errors.New("one id stands for two calls at once")

// twiceFailure is what the sender of its message is told.
func twiceFailure() *agent.Failure {
	return &agent.Failure{
		Kind: agent.FailModel,
		Message: "the model's endpoint gave two calls at once the same id, so an answer to what codex asks about one could have gone to the other. " +
			"Nothing more was allowed, and the turn was ended. Send the message again; an endpoint that does this again is broken, or lies",
	}
}
