package sizes

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// TestWireSize: whatever a task is large by, it is seen.
func TestWireSize(t *testing.T) {
	const size = 100_000
	text := strings.Repeat("x", size)
	at := time.Date(2026, 11, 21, 3, 0, 0, 123456789, time.UTC)
	meta := map[string]any{"k": text}
	data := func(json_ string) *a2a.Part {
		var v any
		if err := json.Unmarshal([]byte(json_), &v); err != nil {
			t.Fatal(err)
		}
		return a2a.NewDataPart(v)
	}
	part := func(p *a2a.Part) *a2a.Task {
		return &a2a.Task{Artifacts: []*a2a.Artifact{{ID: "a", Parts: a2a.ContentParts{p}}}}
	}
	message := func(m *a2a.Message) *a2a.Task { return &a2a.Task{History: []*a2a.Message{m}} }
	many := func(one string) string { return strings.TrimSuffix(strings.Repeat(one+",", size/len(one)), ",") }
	for name, task := range map[string]*a2a.Task{
		"text":               part(a2a.NewTextPart(text)),
		"quotes":             part(a2a.NewTextPart(strings.Repeat(`"`, size/2))),
		"controls":           part(a2a.NewTextPart(strings.Repeat("\x01", size/6))),
		"tags":               part(a2a.NewTextPart(strings.Repeat("<", size/6))),
		"raw":                part(a2a.NewRawPart([]byte(text))),
		"url":                part(a2a.NewFileURLPart(a2a.URL(text), "")),
		"filename":           part(&a2a.Part{Content: a2a.Text("x"), Filename: text}),
		"mediaType":          part(&a2a.Part{Content: a2a.Text("x"), MediaType: text}),
		"partMetadata":       part(&a2a.Part{Content: a2a.Text("x"), Metadata: meta}),
		"numbers":            part(data("[" + many("7") + "]")),
		"fractions":          part(data("[" + many("-1.2345678e-12") + "]")),
		"empty":              part(data("[" + many("{}") + "]")),
		"words":              part(data("[" + many("null") + "]")),
		"objects":            part(data("[" + many(`{"a":"b"}`) + "]")),
		"ours":               part(a2a.NewDataPart(map[string]any{"list": []string{text}})),
		"taskMetadata":       {Metadata: meta},
		"artifactMetadata":   {Artifacts: []*a2a.Artifact{{Metadata: meta}}},
		"artifactName":       {Artifacts: []*a2a.Artifact{{Name: text[:size/2], Description: text[:size/2]}}},
		"artifactExtensions": {Artifacts: []*a2a.Artifact{{Extensions: []string{text}}}},
		"messageMetadata":    message(&a2a.Message{Metadata: meta}),
		"extensions":         message(&a2a.Message{Extensions: strings.Split(strings.Repeat("urn:a ", size/8), " ")}),
		"references":         message(&a2a.Message{ReferenceTasks: []a2a.TaskID{a2a.TaskID(text)}}),
		"status":             {Status: a2a.TaskStatus{State: a2a.TaskStateFailed, Timestamp: &at, Message: &a2a.Message{Metadata: meta}}},
	} {
		t.Run(name, func(t *testing.T) {
			wire, err := json.Marshal(task)
			if err != nil {
				t.Fatal(err)
			}
			if got := OfTask(task); got < len(wire)*9/10 || got > 2*len(wire)+512 {
				t.Errorf("%d, and it is %d", got, len(wire))
			}
		})
	}
	var small []*a2a.Message
	for range 1000 {
		small = append(small, &a2a.Message{ID: "m", Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("hi")}})
	}
	task := &a2a.Task{ID: "t", History: small}
	if wire, _ := json.Marshal(task); OfTask(task) < len(wire)*9/10 || OfTask(task) > 2*len(wire) {
		t.Errorf("small messages: %d, and they are %d", OfTask(task), len(wire))
	}
}
