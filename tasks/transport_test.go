package tasks_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// TestUnderTheSDK runs the engine under the SDK's own JSON-RPC transport, and
// the SDK's client against it.
func TestUnderTheSDK(t *testing.T) {
	r := newRunner()
	e := newEngine(t, r)
	srv := httptest.NewServer(a2asrv.NewJSONRPCHandler(e))
	defer srv.Close()
	client, err := a2aclient.NewFromEndpoints(t.Context(),
		[]*a2a.AgentInterface{{URL: srv.URL, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version}},
		a2aclient.WithJSONRPCTransport(&http.Client{Transport: srv.Client().Transport}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Destroy()

	go func() {
		j := r.next(t).start()
		j.say("a", "hel")
		j.whole("a", "hello", "")
		j.end(agent.Ended{Outcome: agent.Completed})
	}()
	var events []a2a.Event
	for event, err := range client.SendStreamingMessage(t.Context(), request("m1", "c", "hi")) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	want := "task submitted\nstatus working\nnew a \"he\"\nadd a \"llo\" last\nstatus completed"
	if diff := cmp.Diff(want, showAll(events)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	id := events[0].TaskInfo().TaskID
	task, err := client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil || strings.Join(texts(task), " ") != `a="hello"` || task.Metadata[keys.Reply] != "a" {
		t.Errorf("task = %+v, %v", task, err)
	}
	listed, err := client.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: "c"})
	if err != nil || listed.TotalSize != 1 {
		t.Errorf("list = %+v, %v", listed, err)
	}
	if _, err := client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "nope"}); !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("unknown task: %v", err)
	}
	follow := request("m2", "", "more")
	follow.Message.TaskID = id
	if _, err := client.SendMessage(t.Context(), follow); !errors.Is(err, a2a.ErrUnsupportedOperation) {
		t.Errorf("message to an ended task: %v", err)
	}
	running := begin(t, e, request("m3", "c", "hi"))
	r.next(t).start()
	canceled, err := client.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: running.ID})
	if err != nil || canceled.Status.State != a2a.TaskStateCanceled {
		t.Errorf("cancel = %+v, %v", canceled, err)
	}
	srv.Client().CloseIdleConnections()
}
