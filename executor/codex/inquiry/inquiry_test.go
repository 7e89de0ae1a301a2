package inquiry

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestRetracted: a question that is not put is open to no answer, and a guess at its id that
// came before is void.
func TestRetracted(t *testing.T) {
	t.Parallel()
	in := NewDesk(Bounds{Most: 16}).Open("thread", executor.Order{Attempt: executor.Attempt{Job: "j1"}}, func() {})
	for _, guessed := range []bool{true, false} {
		q := &Question{Req: &appserver.Request{}}
		if err := in.Add(q); err != nil {
			t.Fatal(err)
		}
		in.Take("turn")
		if guessed && !in.give(q, Response{}) {
			t.Error("an open question takes no answer")
		}
		if !in.Retract(q) || in.Retract(q) || in.give(q, Response{}) || len(in.Answers()) > 0 {
			t.Errorf("guessed: %t: it is there yet", guessed)
		}
	}
}
