package tasks_test

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// fold applies a stream to the task that it begins with, as a client would.
func fold(t testing.TB, events []a2a.Event) map[a2a.ArtifactID]string {
	t.Helper()
	all := map[a2a.ArtifactID]*strings.Builder{}
	set := func(id a2a.ArtifactID, text string) {
		all[id] = &strings.Builder{}
		all[id].WriteString(text)
	}
	for i, event := range events {
		switch event := event.(type) {
		case *a2a.Task:
			if i != 0 {
				t.Errorf("event %d is a task", i)
			}
			for _, a := range event.Artifacts {
				set(a.ID, a.Parts[0].Text())
			}
		case *a2a.TaskArtifactUpdateEvent:
			a := event.Artifact
			switch {
			case !event.Append:
				set(a.ID, a.Parts[0].Text())
			case all[a.ID] == nil:
				t.Errorf("event %d appends to an artifact that is not there", i)
			default:
				all[a.ID].WriteString(a.Parts[0].Text())
			}
		}
	}
	out := map[a2a.ArtifactID]string{}
	for id, b := range all {
		out[id] = b.String()
	}
	return out
}

func content(task *a2a.Task) map[a2a.ArtifactID]string {
	all := map[a2a.ArtifactID]string{}
	for _, a := range task.Artifacts {
		all[a.ID] = a.Parts[0].Text()
	}
	return all
}
