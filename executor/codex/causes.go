package codex

import (
	"errors"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
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

// Each message of the agent is an artifact that all who read the task go through, and the
// model's endpoint can make any number of a few bytes each. So a turn has a bound of them
// ([Config.MaxMessages]).

// errMany is the cause for which a turn with more of them is ended.
var errMany = errors.New("the turn has too many messages, or ids that are too long")

// manyFailure is what the sender of its message is told.
func manyFailure(most int) *agent.Failure {
	return &agent.Failure{
		Kind: agent.FailModel,
		Message: fmt.Sprintf("the model's endpoint sent more than %d messages in one turn, or ids of more than %d bytes, and the turn was ended. "+
			"What they said is kept. Send the message again; an endpoint that does this again is broken, or lies", most, items.MostID),
	}
}

// errUnbidden is the cause for which a turn is ended that codex had begun for other words when it
// took the message into it.
var errUnbidden = errors.New("codex has begun the turn for words that were not sent here")

// unbiddenFailure is what the sender of its message is told.
func unbiddenFailure() *agent.Failure {
	return &agent.Failure{
		Kind: agent.FailModel,
		Message: "another process has put words into codex's own queue, codex began a turn for them, and took the message into it. " +
			"The turn was ended. Look at what was done so far, and send the message again",
	}
}
