package tasks_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

func TestProducedBecomesAnArtifact(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	stream := listen(e.SendStreamingMessage(t.Context(), request("m1", "c", "hi")))
	j := r.next(t).start()
	j.observe(agent.Produced{ID: "f", Name: "a.txt", MediaType: "text/plain", Bytes: []byte("content")})
	j.observe(agent.Produced{ID: "f", Name: "b.txt", MediaType: "text/plain", URL: "https://example.com/b.txt"})
	j.observe(agent.Produced{Name: "table", MediaType: "application/json", Data: map[string]any{"n": 1.0}})
	j.answer("done")
	events := stream.wait(t)
	task := get(t, e, events[0].(*a2a.Task).ID)
	want := []*a2a.Artifact{
		{ID: "f", Name: "a.txt", Parts: a2a.ContentParts{{Content: a2a.Raw("content"), Filename: "a.txt", MediaType: "text/plain"}}},
		{ID: "f-2", Name: "b.txt", Parts: a2a.ContentParts{{Content: a2a.URL("https://example.com/b.txt"), Filename: "b.txt", MediaType: "text/plain"}}},
		{ID: "file", Name: "table", Parts: a2a.ContentParts{{Content: a2a.Data{Value: map[string]any{"n": 1.0}}, MediaType: "application/json"}}},
		{ID: "m-" + a2a.ArtifactID(j.ID), Name: "message", Parts: a2a.ContentParts{a2a.NewTextPart("done")}},
	}
	if diff := cmp.Diff(want, task.Artifacts); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	var chunks int
	for _, event := range events {
		if u, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			if chunks++; u.Append || !u.LastChunk {
				t.Errorf("%s comes in pieces", u.Artifact.ID)
			}
		}
	}
	if chunks != len(want) {
		t.Errorf("%d artifact events", chunks)
	}
}

// TestRejected: a turn that was refused for what it asks is no failure of ours.
func TestRejected(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	task := begin(t, e, request("m1", "c", "hi"))
	r.next(t).end(agent.Ended{Outcome: agent.Rejected, Failure: &agent.Failure{Kind: agent.FailModel, Message: "not that"}})
	wantTask(t, get(t, e, task.ID), a2a.TaskStateRejected, "not that")
}
