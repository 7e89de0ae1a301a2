package codex

import (
	"errors"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

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
