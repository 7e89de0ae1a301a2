package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestProgress streams a turn that does all sorts of things and looks for each
// in the place where docs/messages.md says it stands.
func TestProgress(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := p.stream(t.Context(), "SendStreamingMessage", object{
		"message": message("m1", "one", "think about it\nplan\nrun echo from-the-command\npatch hello.txt\nsay done"),
	})
	seen := map[string][]object{}
	var diff string
	var id any
	for event := s.next(); event != nil; event = s.next() {
		if task := at(event, "task", "id"); task != nil {
			id = task
		}
		if data, ok := at(event, "statusUpdate", "status", "message", "parts", 0, "data").(object); ok {
			kind, _ := data["type"].(string)
			seen[kind] = append(seen[kind], data)
		}
		if at(event, "artifactUpdate", "artifact", "name") == "diff" {
			diff, _ = at(event, "artifactUpdate", "artifact", "parts", 0, "text").(string)
		}
	}
	for _, kind := range []string{"reasoning", "plan", "command", "fileChange"} {
		if len(seen[kind]) == 0 {
			t.Errorf("no progress of type %s: %v", kind, seen)
		}
	}
	if commands := seen["command"]; len(commands) > 0 {
		last := commands[len(commands)-1]
		if tail, _ := last["outputTail"].(string); !strings.Contains(tail, "from-the-command") || last["exitCode"] != 0.0 {
			t.Errorf("the command ended as %v", last)
		}
	}
	if !strings.Contains(diff, "hello.txt") || !strings.Contains(diff, "+++") {
		t.Errorf("the diff artifact is %q, want a unified diff of hello.txt", diff)
	}
	task := p.get(id)
	artifacts, _ := task["artifacts"].([]any)
	var names []any
	for _, artifact := range artifacts {
		names = append(names, at(artifact, "name"))
		if parts, _ := at(artifact, "parts").([]any); len(parts) != 1 {
			t.Errorf("the stored artifact has %d parts, want one", len(parts))
		}
	}
	if len(names) < 2 || names[len(names)-1] != "message" || !slices.Contains(names, any("diff")) {
		t.Errorf("artifacts = %v, want a diff, and the reply last", names)
	}
}
