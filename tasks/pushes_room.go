package tasks

import (
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// PushSender is who has the tasks of a conversation made: each other agent is one, and the
// user, with all callers who do not say that they are an agent, another.
func PushSender(conversation string) push.Sender {
	name := strings.TrimPrefix(conversation, commandPrefix)
	if !strings.HasPrefix(name, peerPrefix) {
		return push.Sender{Name: "user"}
	}
	if end := strings.IndexAny(name, "/@"); end >= 0 {
		name = name[:end]
	}
	return push.Sender{Name: name, Peer: true}
}
