package hostile

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// mostOfAnswers is what the program may come to while it reads answers of peers: beside it
// codex has a place in a container of 512 MiB.
const mostOfAnswers = 320 << 20

// aPeer is one that the platform's double need not know.
const aPeer = "0363d61c-4c84-409e-9f78-223aaab81919"

// manyIn is a list of as many elements as an answer has room for.
func manyIn(one string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", (15<<20)/(len(one)+1)), ",") + "]"
}

// TestAnswersOfMuch has a peer answer as much as is read, in the forms of which most could be
// made, to several conversations at once.
func TestAnswersOfMuch(t *testing.T) {
	x := newWorkspace(t)
	for _, form := range some([]struct{ name, result string }{
		{"artifacts of parts", `{"artifacts":[{"parts":` + manyIn(`{"root":{}}`) + `}]}`},
		{"parts", `{"parts":` + manyIn("{}") + `}`},
		{"a text", `{"parts":[{"text":"` + strings.Repeat("x", 15<<20) + `"}]}`},
		{"artifacts", `{"artifacts":` + manyIn("1") + `}`},
	}, 2) {
		answer := `{"result":` + form.result + `}`
		row := fmt.Sprintf(`[{"id":"r1","activity_type":"a2a_send","method":"message/send","source_id":%q,"target_id":%q,"created_at":"2026-11-23T04:41:00Z","response_body":%s}]`, theWorkspace, aPeer, answer)
		undo := []func(){x.platform.Behave("POST */a2a", fakeplatform.Refuse(200, answer)), x.platform.Behave("GET */activity", fakeplatform.Refuse(200, row))}
		var all sync.WaitGroup
		for i := range 6 {
			tool, wanted := `delegate_task {"workspace_id":"`+aPeer+`","task":"hi"}`, "A2A_RESULT_FROM_PEER"
			if i%2 == 1 {
				tool, wanted = `chat_history {"peer_id":"`+aPeer+`"}`, "r1"
			}
			all.Go(func() {
				id := fmt.Sprintf("%s-%d", strings.ReplaceAll(form.name, " ", "-"), i) // of a conversation of its own
				a := x.send(x.ours(rpc("SendMessage", object{"message": object{
					"messageId": id, "contextId": id, "role": "ROLE_USER", "parts": []object{{"text": "call " + tool}},
				}})))
				if !strings.Contains(a.body, wanted) || !json.Valid([]byte(a.body)) {
					t.Errorf("%s, %s: %.600s", form.name, tool, a)
				}
			})
		}
		all.Wait()
		for _, f := range undo {
			f()
		}
		peak := progtest.PeakMemory(t, x.Pid())
		t.Logf("six of %s: at most %d MiB", form.name, peak>>20)
		if peak > mostOfAnswers {
			t.Errorf("six of %s: the program came to %d MiB", form.name, peak>>20)
		}
	}
	x.unharmed(t)
}
