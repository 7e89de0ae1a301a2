package tasks_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// TestDataThatAreNoAnswer are a message like any other, whatever their ids look like.
func TestDataThatAreNoAnswer(t *testing.T) {
	const piece = "01a224ff-f264-7e45-8915-33436124e6f2-3"
	for name, c := range map[string]struct{ from, data map[string]any }{
		"another id":           {nil, map[string]any{"id": "order-1", "decision": "accept"}},
		"a piece of something": {nil, map[string]any{"id": piece, "content": "summarise it"}},
		"an event":             {nil, map[string]any{"id": piece, "action": "created"}},
		"another agent's":      {map[string]any{"source_workspace_id": "ws-2"}, map[string]any{"id": piece, "decision": "accept"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := workspaceMachine(t)
			m.change = append(m.change, func(c *tasks.Config) { c.MidTurn = true })
			m.restart()
			say := func(id string) {
				t.Helper()
				req := request(id, "c", "")
				req.Config.ReturnImmediately = true
				req.Message.Parts, req.Message.Metadata = a2a.ContentParts{a2a.NewDataPart(c.data)}, c.from
				send(t, m.e, req)
			}
			say("m1")
			j := m.r.next(t).start()
			say("m2") // beside a turn that asks nothing
			j.answer("done")
			m.r.next(t).answer("done")
		})
	}
}
