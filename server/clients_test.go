package server

import (
	"errors"
	"iter"
	"net/http"
	"testing"

	legacy "github.com/a2aproject/a2a-go/a2a"
	legacyclient "github.com/a2aproject/a2a-go/a2aclient"
	legacycard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// The official clients, unchanged, from the card on.

func TestGoClient10(t *testing.T) {
	for _, binding := range []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON} {
		t.Run(string(binding), func(t *testing.T) {
			ts := start(t, Config{})
			hc := &http.Client{Transport: &http.Transport{}}
			defer hc.CloseIdleConnections()
			card, err := agentcard.NewResolver(hc).Resolve(t.Context(), ts.URL)
			if err != nil {
				t.Fatal(err)
			}
			c, err := a2aclient.NewFromCard(t.Context(), card,
				a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{binding}}),
				a2aclient.WithJSONRPCTransport(hc), a2aclient.WithRESTTransport(hc))
			if err != nil {
				t.Fatal(err)
			}
			use10(t, c)
		})
	}
}

// The 0.3 HTTP+JSON binding of the SDK, through its own client for it.
func TestGoClient03REST(t *testing.T) {
	ts := start(t, Config{})
	hc := &http.Client{Transport: &http.Transport{}}
	defer hc.CloseIdleConnections()
	c, err := a2aclient.NewFromEndpoints(t.Context(),
		[]*a2a.AgentInterface{{URL: ts.URL, ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2av0.Version}},
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{URL: ts.URL, Client: hc}))
	if err != nil {
		t.Fatal(err)
	}
	use10(t, c)
}

func use10(t *testing.T, c *a2aclient.Client) {
	t.Helper()
	ctx := t.Context()
	hi := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))}
	res, err := c.SendMessage(ctx, hi)
	task, ok := res.(*a2a.Task)
	if err != nil || !ok || task.Status.State != a2a.TaskStateCompleted || task.Artifacts[0].Parts[0].Text() != "echo: hi" {
		t.Fatalf("SendMessage = %#v, %v", res, err)
	}
	if n, last := drain(t, c.SendStreamingMessage(ctx, hi)); n != 3 {
		t.Errorf("%d events, last %#v", n, last)
	}
	if n, last := drain(t, c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "T1"})); n != 1 {
		t.Errorf("%d events, last %#v", n, last)
	}
	for _, err := range c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "nope"}) {
		if !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("SubscribeToTask of an unknown task: %v", err)
		}
	}
	if task, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "T1"}); err != nil || task.Status.State != a2a.TaskStateWorking {
		t.Errorf("GetTask = %v, %v", task, err)
	}
	if _, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "nope"}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("GetTask of an unknown task: %v", err)
	}
	if task, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: "T1"}); err != nil || task.Status.State != a2a.TaskStateCanceled {
		t.Errorf("CancelTask = %v, %v", task, err)
	}
	if list, err := c.ListTasks(ctx, &a2a.ListTasksRequest{}); err != nil || len(list.Tasks) != 0 {
		t.Errorf("ListTasks = %v, %v", list, err)
	}
}

func drain(t *testing.T, events iter.Seq2[a2a.Event, error]) (n int, last a2a.Event) {
	t.Helper()
	for e, err := range events {
		if err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		n, last = n+1, e
	}
	return n, last
}

func TestGoClient03(t *testing.T) {
	ts := start(t, Config{})
	ctx := t.Context()
	hc := &http.Client{Transport: &http.Transport{}}
	defer hc.CloseIdleConnections()
	card, err := legacycard.NewResolver(hc).Resolve(ctx, ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := legacyclient.NewFromCard(ctx, card, legacyclient.WithJSONRPCTransport(hc))
	if err != nil {
		t.Fatal(err)
	}
	hi := &legacy.MessageSendParams{Message: legacy.NewMessage(legacy.MessageRoleUser, legacy.TextPart{Text: "hi"})}
	res, err := c.SendMessage(ctx, hi)
	task, ok := res.(*legacy.Task)
	if err != nil || !ok || task.Status.State != legacy.TaskStateCompleted {
		t.Fatalf("SendMessage = %#v, %v", res, err)
	}
	var n int
	for e, err := range c.SendStreamingMessage(ctx, hi) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if n == 3 && !e.(*legacy.TaskStatusUpdateEvent).Final {
			t.Errorf("last event %#v", e)
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
	if _, err := c.GetTask(ctx, &legacy.TaskQueryParams{ID: "nope"}); !errors.Is(err, legacy.ErrTaskNotFound) {
		t.Errorf("GetTask of an unknown task: %v", err)
	}
	for _, err := range c.ResubscribeToTask(ctx, &legacy.TaskIDParams{ID: "nope"}) {
		if !errors.Is(err, legacy.ErrTaskNotFound) {
			t.Errorf("ResubscribeToTask of an unknown task: %v", err)
		}
	}
	if task, err := c.CancelTask(ctx, &legacy.TaskIDParams{ID: "T1"}); err != nil || task.Status.State != legacy.TaskStateCanceled {
		t.Errorf("CancelTask = %v, %v", task, err)
	}
}
