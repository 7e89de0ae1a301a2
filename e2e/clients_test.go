package e2e

import (
	"errors"
	"strings"
	"testing"

	legacyproto "github.com/a2aproject/a2a-go/a2a"
	legacyclient "github.com/a2aproject/a2a-go/a2aclient"
	legacycard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// The official clients of both versions must work unchanged: they find the
// card, choose a transport by it, send, stream, get and cancel.

func TestClient10(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := t.Context()
	card, err := agentcard.DefaultResolver.Resolve(ctx, p.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, transport := range []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON} {
		t.Run(string(transport), func(t *testing.T) {
			client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithConfig(a2aclient.Config{
				PreferredTransports: []a2a.TransportProtocol{transport},
			}))
			if err != nil {
				t.Fatal(err)
			}
			result, err := client.SendMessage(ctx, &a2a.SendMessageRequest{
				Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("say hello client")),
			})
			if err != nil {
				t.Fatal(err)
			}
			task, ok := result.(*a2a.Task)
			if !ok || task.Status.State != a2a.TaskStateCompleted {
				t.Fatalf("SendMessage = %+v, want a completed task", result)
			}
			if got := task.Artifacts[0].Parts[0].Text(); !strings.Contains(got, "hello client") {
				t.Errorf("the answer is %q", got)
			}
			streams10(t, client)
			cancels10(t, client)
			if _, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: "nobody"}); !errors.Is(err, a2a.ErrTaskNotFound) {
				t.Errorf("GetTask of an unknown task: %v", err)
			}
			list, err := client.ListTasks(ctx, &a2a.ListTasksRequest{})
			if err != nil || len(list.Tasks) == 0 {
				t.Errorf("ListTasks = %+v, %v, want tasks", list, err)
			}
		})
	}
}

func streams10(t *testing.T, client *a2aclient.Client) {
	t.Helper()
	var text strings.Builder
	var last a2a.Event
	for event, err := range client.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{
		Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("stream 30 8")),
	}) {
		if err != nil {
			t.Fatal(err)
		}
		last = event
		if update, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			for _, part := range update.Artifact.Parts {
				text.WriteString(part.Text())
			}
		}
	}
	if text.Len() != 30*8 {
		t.Errorf("streamed %d bytes, want %d", text.Len(), 30*8)
	}
	if end, ok := last.(*a2a.TaskStatusUpdateEvent); !ok || end.Status.State != a2a.TaskStateCompleted {
		t.Errorf("last event = %+v, want the completed status", last)
	}
}

func cancels10(t *testing.T, client *a2aclient.Client) {
	t.Helper()
	result, err := client.SendMessage(t.Context(), &a2a.SendMessageRequest{
		Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hang")),
		Config:  &a2a.SendMessageConfig{ReturnImmediately: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	task, ok := result.(*a2a.Task)
	if !ok {
		t.Fatalf("SendMessage = %+v, want a task", result)
	}
	canceled, err := client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil || canceled.Status.State != a2a.TaskStateCanceled {
		t.Errorf("CancelTask = %+v, %v, want the canceled task", canceled, err)
	}
}

func TestClient03(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := t.Context()
	card, err := legacycard.DefaultResolver.Resolve(ctx, p.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := legacyclient.NewFromCard(ctx, card)
	if err != nil {
		t.Fatal(err)
	}
	result, err := client.SendMessage(ctx, legacyMessage("say hello old friend"))
	if err != nil {
		t.Fatal(err)
	}
	task, ok := result.(*legacyproto.Task)
	if !ok || task.Status.State != legacyproto.TaskStateCompleted {
		t.Fatalf("SendMessage = %+v, want a completed task", result)
	}
	if got := legacyText(task.Artifacts[0].Parts); !strings.Contains(got, "hello old friend") {
		t.Errorf("the answer is %q", got)
	}
	var streamed strings.Builder
	for event, err := range client.SendStreamingMessage(ctx, legacyMessage("stream 30 8")) {
		if err != nil {
			t.Fatal(err)
		}
		if update, ok := event.(*legacyproto.TaskArtifactUpdateEvent); ok {
			streamed.WriteString(legacyText(update.Artifact.Parts))
		}
	}
	if streamed.Len() != 30*8 {
		t.Errorf("streamed %d bytes, want %d", streamed.Len(), 30*8)
	}
	if _, err := client.GetTask(ctx, &legacyproto.TaskQueryParams{ID: "nobody"}); !errors.Is(err, legacyproto.ErrTaskNotFound) {
		t.Errorf("GetTask of an unknown task: %v", err)
	}
}

func legacyMessage(text string) *legacyproto.MessageSendParams {
	return &legacyproto.MessageSendParams{
		Message: legacyproto.NewMessage(legacyproto.MessageRoleUser, legacyproto.TextPart{Text: text}),
	}
}

func legacyText(parts legacyproto.ContentParts) string {
	var all strings.Builder
	for _, part := range parts {
		if text, ok := part.(legacyproto.TextPart); ok {
			all.WriteString(text.Text)
		}
	}
	return all.String()
}
