package tasks_test

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

func TestPushSender(t *testing.T) {
	user := push.Sender{Name: "user"}
	bob, unnamed := push.Sender{Name: "peer:bob", Peer: true}, push.Sender{Name: "peer:?", Peer: true}
	for conversation, want := range map[string]push.Sender{
		"": user, "canvas-ws": user, "command:canvas-ws": user, "sess-1": user, "peers": user,
		"peer:bob": bob, "peer:bob/x": bob, "peer:bob/x/aside/y": bob, "peer:bob@us": bob, "command:peer:bob": bob, "command:peer:bob/x": bob,
		"peer:?/x": unnamed, "peer:?/y": unnamed, "command:peer:?/z": unnamed,
		"peer:bobby": {Name: "peer:bobby", Peer: true},
	} {
		if got := tasks.PushSender(conversation); got != want {
			t.Errorf("%q is %+v, want %+v", conversation, got, want)
		}
	}
}
