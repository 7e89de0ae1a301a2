package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
)

// 0.3 has no place for the media type of a text or of data; it stands in the
// metadata of the part, and is taken from where 1.0 has it, too.
func TestMediaTypesOf03(t *testing.T) {
	markdown := func() *a2a.Part { return &a2a.Part{Content: a2a.Text("# hi"), MediaType: "text/markdown"} }
	yaml := &a2a.Part{Content: a2a.Data{Value: map[string]any{"a": 1.0}}, MediaType: "application/yaml"}
	h := &fakeHandler{}
	h.send = func(_ context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
		task := echoTask(req)
		task.Artifacts[0].Parts = a2a.ContentParts{markdown(), yaml, a2a.NewTextPart("plain")}
		task.Status.Message = a2a.NewMessage(a2a.MessageRoleAgent, markdown())
		return task, nil
	}
	h.stream = func(context.Context, *a2a.SendMessageRequest) unplaced {
		status := a2a.TaskStatus{State: a2a.TaskStateWorking, Message: a2a.NewMessage(a2a.MessageRoleAgent, markdown())}
		return events(
			&a2a.TaskArtifactUpdateEvent{TaskID: "T1", Artifact: &a2a.Artifact{ID: "A1", Parts: a2a.ContentParts{markdown()}}},
			&a2a.TaskStatusUpdateEvent{TaskID: "T1", Status: status},
			a2a.NewMessage(a2a.MessageRoleAgent, markdown()),
		)
	}
	ts := start(t, Config{Handler: h})
	for part, want := range map[string]string{
		`{"kind":"text","text":"# hi","metadata":{"mediaType":"text/markdown"}}`: "text/markdown",
		`{"kind":"text","text":"# hi","mimeType":"text/markdown"}`:               "text/markdown",
		`{"text":"# hi","mediaType":"text/markdown"}`:                            "text/markdown",
		`{"kind":"data","data":{},"mediaType":"application/yaml"}`:               "application/yaml",
		`{"kind":"text","text":"# hi","mediaType":7}`:                            "",
		`{"kind":"text","text":"# hi"}`:                                          "",
		`{"kind":"file","file":{"bytes":"aGk=","mimeType":"image/png"}}`:         "image/png",
	} {
		a := do(t, "POST", ts.URL, v0Send1(`{"messageId":"m","role":"user","parts":[`+part+`]}`))
		if got := h.last().Message.Parts[0].MediaType; got != want {
			t.Errorf("%s: media type %q, want %q (%s)", part, got, want, a.body)
		}
	}
	var task struct {
		Artifacts []struct{ Parts []map[string]any }
		Status    struct {
			Message struct{ Parts []map[string]any }
		}
	}
	if err := json.Unmarshal(do(t, "POST", ts.URL, v0Hi).rpc(t).Result, &task); err != nil {
		t.Fatal(err)
	}
	says := func(media string) map[string]any { return map[string]any{"mediaType": media} }
	want := []map[string]any{
		{"kind": "text", "text": "# hi", "metadata": says("text/markdown")},
		{"kind": "data", "data": map[string]any{"a": 1.0}, "metadata": says("application/yaml")},
		{"kind": "text", "text": "plain"},
	}
	if diff := cmp.Diff(want, task.Artifacts[0].Parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:1], task.Status.Message.Parts); diff != "" {
		t.Error(diff)
	}
	for _, event := range do(t, "POST", ts.URL, v0Stream).sseData() {
		if !strings.Contains(event, `"metadata":{"mediaType":"text/markdown"}`) {
			t.Errorf("event %s", event)
		}
	}
	if yaml.Metadata != nil {
		t.Error("what the handler gave was changed")
	}
}
