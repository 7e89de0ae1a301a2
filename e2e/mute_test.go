package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestPeersQuestionsStopNoOther: another agent has codex ask, in context after context. Some
// turns wait for those who may answer, the console's visitor say, and the user has an answer.
func TestPeersQuestionsStopNoOther(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	w := startWorkspace(t, "RUNTIME_MAX_TURNS=1", "RUNTIME_MAX_QUESTIONS=8")
	for i := range 10 {
		m := userMessage(fmt.Sprintf("p%d", i), textPart(fmt.Sprintf("run echo ran-%d", i)))
		m["contextId"], m["metadata"] = fmt.Sprintf("c%d", i), object{"approvalPolicy": "untrusted"}
		said, _ := w.ask(m, object{"source_workspace_id": "peer-9"})
		if asks := strings.Contains(said, "codex asks"); asks != (i < 4) {
			t.Fatalf("message %d is answered %q", i, said)
		}
	}
	if said, _ := w.ask(userMessage("u1", textPart("say hi")), object{"source": "canvas_user"}); said != "hi" {
		t.Errorf("the user is answered %q", said)
	}
	open, _ := at(w.call("ListTasks", object{"status": "TASK_STATE_INPUT_REQUIRED"}), "result", "tasks").([]any)
	if len(open) != 4 {
		t.Fatalf("%d tasks ask", len(open))
	}
	ended := w.task(w.call("SendMessage", answer(open[0].(object), "a1", "yes")))
	if state(ended) != "TASK_STATE_COMPLETED" || !strings.Contains(text(ended), "ran-") {
		t.Errorf("task = %v with %q", ended["status"], text(ended))
	}
}

// TestChannelPeerIsNotAsked: in a channel nobody could answer in the place of a peer.
func TestChannelPeerIsNotAsked(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := poll(t, "CODEX_APPROVAL_POLICY=on-request")
	bob := x.neighbour("Bob")
	bob.send(x.handle, "b1", "escalate echo ran", nil)
	if got := bob.got(1); !strings.Contains(got[0].Text, "rejected by user") {
		t.Errorf("Bob got %+v", got)
	}
	x.acked(len(x.handle.Inbox()) - 1)
}
