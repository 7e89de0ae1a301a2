package codec

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
)

func chunk(id, text string, adds, last bool) *a2a.TaskArtifactUpdateEvent {
	return &a2a.TaskArtifactUpdateEvent{
		TaskID: "t", ContextID: "c", Append: adds, LastChunk: last,
		Artifact: &a2a.Artifact{
			ID: a2a.ArtifactID(id), Name: "message", Parts: a2a.ContentParts{a2a.NewTextPart(text)},
			Metadata: map[string]any{"phase": "final_answer"},
		},
	}
}

func TestEventsRoundTrip(t *testing.T) {
	diff := chunk("d", "+1", true, false)
	diff.Artifact.Parts[0].MediaType = "text/x-diff"
	noted := chunk("a", "noted", true, false)
	noted.Metadata = map[string]any{"k": "v"}
	want := []a2a.Event{
		&a2a.TaskStatusUpdateEvent{TaskID: "t", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: new(time.Now().UTC().Truncate(time.Millisecond))}, Metadata: map[string]any{"turn": "started"}},
		chunk("a", "begins", false, false),
		chunk("a", " <goes> on", true, false), chunk("a", "", true, false), chunk("a", "ü\n\"", true, false),
		chunk("b", "another", true, false), chunk("a", "first", true, false), diff, noted,
		&a2a.TaskArtifactUpdateEvent{TaskID: "t", ContextID: "c", Append: true, Artifact: &a2a.Artifact{ID: "f", Parts: a2a.ContentParts{a2a.NewRawPart([]byte{0, 255})}}},
		chunk("a", "whole", true, true),
	}
	body, err := EncodeEvents(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEvents(body, a2a.TaskInfo{TaskID: "t", ContextID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestStartReadsNoWords: of progress and of what is asked it makes nothing, and there can be much.
func TestStartReadsNoWords(t *testing.T) {
	asks := &a2a.TaskStatusUpdateEvent{
		TaskID: "t", ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateInputRequired, Message: a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("May I?"))},
		Metadata: map[string]any{"message": 1.0},
	}
	state := func(said string, meta map[string]any) a2a.Event {
		status := a2a.TaskStatus{State: a2a.TaskStateWorking, Message: a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewDataPart(map[string]any{"text": said}))}
		return &a2a.TaskStatusUpdateEvent{TaskID: "t", ContextID: "c", Status: status, Metadata: meta}
	}
	body, err := EncodeEvents([]a2a.Event{
		state("\"state\":\"TASK_STATE_INPUT_REQUIRED\"", map[string]any{"message": 1.0}), asks, state("works", nil), chunk("a", "first", false, false), state("\"metadata\":{}\n{\"t\":", nil),
		chunk("a", `{"e":{"statusUpdate":`, true, false), state("works", nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEvents(WithoutWords(body), a2a.TaskInfo{TaskID: "t", ContextID: "c"})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d events are read, %v", len(got), err)
	}
	if begins, ok := got[0].(*a2a.TaskStatusUpdateEvent); !ok || begins.Metadata["message"] != 1.0 {
		t.Errorf("the first is %+v", got[0])
	}
}

func TestTextIsKeptOnce(t *testing.T) {
	events := []a2a.Event{chunk("a", "first", false, false)}
	size := 0
	for i := range 5000 {
		text := fmt.Sprintf("word%04d", i)
		size += len(text)
		events = append(events, chunk("a", text, true, false))
	}
	body, err := EncodeEvents(events)
	if err != nil {
		t.Fatal(err)
	}
	if len(body) > size*13/10 {
		t.Errorf("%d bytes for a text of %d", len(body), size)
	}
}

// A chunk may end within a character.
func TestTextIsKeptAsItIs(t *testing.T) {
	body, err := EncodeEvents([]a2a.Event{chunk("a", "\xc3", true, false), chunk("a", "\xbc", true, false)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEvents(body, a2a.TaskInfo{TaskID: "t", ContextID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"\xc3", "\xbc"} {
		if text := got[i].(*a2a.TaskArtifactUpdateEvent).Artifact.Parts[0].Text(); text != want {
			t.Errorf("chunk %d is %q", i, text)
		}
	}
}

func TestDamagedEvents(t *testing.T) {
	for _, body := range []string{`{"t":{"a":{},"n":[9],"s":"short"}}`, `{"t":{"n":[1],"s":"x"}}`, `{"t":{"a":{},"n":[-1],"s":"x"}}`, `{"e":{}}`, `{`} {
		if _, err := DecodeEvents([]byte(body), a2a.TaskInfo{TaskID: "t"}); err == nil {
			t.Errorf("%s: no error", body)
		}
	}
}
