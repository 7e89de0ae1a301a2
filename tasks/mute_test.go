package tasks_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestWhoIsMute: answers of agents are not taken, nor are the platform's, but where the user is.
func TestWhoIsMute(t *testing.T) {
	platform := map[string]any{"source": "platform"}
	for name, c := range map[string]struct {
		main, given string
		meta        map[string]any
		want        bool
	}{
		"an agent":                                {"canvas-ws", "", by("bob"), true},
		"an agent in the user's context":          {"canvas-ws", "canvas-ws", by("bob"), true},
		"an agent without a name":                 {"canvas-ws", "", map[string]any{"delegation_id": "d"}, true},
		"an agent where there is no main context": {"", "x", by("bob"), true},
		"the user":                                {"canvas-ws", "", map[string]any{"source": "canvas_user"}, false},
		"any caller":                              {"canvas-ws", "x", nil, false},
		"the platform, to the user":               {"canvas-ws", "", platform, false},
		"the platform, elsewhere":                 {"canvas-ws", "x", platform, true},
		"the platform, in an inbox":               {"", "canvas:ws", platform, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, func(cfg *tasks.Config) { cfg.Main, cfg.Workspace = c.main, &tasks.Workspace{} })
			_, err := m.e.SendMessage(t.Context(), &a2a.SendMessageRequest{
				Metadata: c.meta, Config: &a2a.SendMessageConfig{ReturnImmediately: true},
				Message: &a2a.Message{ID: "m1", ContextID: c.given, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("hi")}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if j := m.r.next(t); j.Mute != c.want {
				t.Errorf("mute: %t", j.Mute)
			}
			m.kill()
			m.start()
			if j := m.r.next(t); j.Mute != c.want {
				t.Errorf("mute: %t, after a restart", j.Mute)
			}
		})
	}
}
