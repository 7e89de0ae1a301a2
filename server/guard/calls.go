package guard

import (
	"context"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
)

// GetTask waits for its turn to be read, for a task may be large.
func (g *Guard) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	return guarded(ctx, g, "GetTask", req, bounds.InTurn(g.next.GetTask))
}

// ListTasks waits for its turn, as GetTask does.
func (g *Guard) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := guarded(ctx, g, "ListTasks", req, bounds.InTurn(g.next.ListTasks))
	if err == nil && res != nil && res.Tasks == nil {
		out := *res
		out.Tasks = []*a2a.Task{} // [] and not null
		res = &out
	}
	return res, err
}

// CancelTask is that of the handler.
func (g *Guard) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return guarded(ctx, g, "CancelTask", req, g.next.CancelTask)
}

// SendMessage is that of the handler.
func (g *Guard) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return guarded(ctx, g, "SendMessage", req, g.next.SendMessage)
}

// Stream is that of the handler, if the card promises streams.
func (g *Guard) Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) Events {
	return guardedStream(ctx, g, "SendStreamingMessage", req, after, g.next.Stream)
}

// Resume is that of the handler, if the card promises streams.
func (g *Guard) Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) Events {
	return guardedStream(ctx, g, "SubscribeToTask", req, after, g.next.Resume)
}

// GetTaskPushConfig is that of the handler; see [Guard.CheckPush].
func (g *Guard) GetTaskPushConfig(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return guarded(ctx, g, "GetTaskPushConfig", req, g.next.GetTaskPushConfig)
}

// ListTaskPushConfigs is that of the handler; see [Guard.CheckPush].
func (g *Guard) ListTaskPushConfigs(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	res, err := guarded(ctx, g, "ListTaskPushConfigs", req, g.next.ListTaskPushConfigs)
	if err == nil && res == nil {
		res = &a2a.ListTaskPushConfigResponse{}
	}
	if err == nil && res.Configs == nil {
		out := *res
		out.Configs = []*a2a.PushConfig{}
		res = &out
	}
	return res, err
}

// CreateTaskPushConfig is that of the handler; see [Guard.CheckPush].
func (g *Guard) CreateTaskPushConfig(ctx context.Context, req *a2a.PushConfig) (*a2a.PushConfig, error) {
	return guarded(ctx, g, "CreateTaskPushConfig", req, g.next.CreateTaskPushConfig)
}

// DeleteTaskPushConfig is that of the handler; see [Guard.CheckPush].
func (g *Guard) DeleteTaskPushConfig(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	_, err := guarded(ctx, g, "DeleteTaskPushConfig", req,
		func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
			return struct{}{}, g.next.DeleteTaskPushConfig(ctx, req)
		})
	return err
}

// GetExtendedAgentCard makes the extended card, if there is one for the version of the call.
func (g *Guard) GetExtendedAgentCard(ctx context.Context, req *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return guarded(ctx, g, "GetExtendedAgentCard", req, g.extendedCard)
}

// Extension is a call of f, a method of an extension.
func (g *Guard) Extension(ctx context.Context, name string, params json.RawMessage, f func(context.Context, json.RawMessage) (any, error)) (any, error) {
	return guarded(ctx, g, name, params, f)
}
