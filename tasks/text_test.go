package tasks_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestAnswerOfBlanks: one that has nothing to see is said to be empty, and blanks of any
// kind at the end of another one do not make up its last chunk.
func TestAnswerOfBlanks(t *testing.T) {
	for text, want := range map[string]string{" \n\u2003": "(codex returned empty output)", "abc\u00a0\n": "c\u00a0\n"} {
		r := newRunner()
		e := newEngine(t, r)
		stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
		j := r.next(t).start()
		j.say("a", text)
		j.end(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "a", Text: text}}})
		last := ""
		for _, event := range stream.wait(t) {
			switch event := event.(type) {
			case *a2a.TaskArtifactUpdateEvent:
				last = event.Artifact.Parts[0].Text()
			case *a2a.TaskStatusUpdateEvent:
				if event.Status.Message != nil {
					last = event.Status.Message.Parts[0].Text()
				}
			}
		}
		if last != want {
			t.Errorf("%q ends with %q, want %q", text, last, want)
		}
	}
}
