package server

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The calls of [Handler], but for those of its streams that know no places.

func (g *guard) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	return guarded(ctx, g, "GetTask", req, inTurn(g.next.GetTask))
}

func (g *guard) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := guarded(ctx, g, "ListTasks", req, inTurn(g.next.ListTasks))
	if err == nil && res != nil && res.Tasks == nil {
		out := *res
		out.Tasks = []*a2a.Task{} // [] and not null
		res = &out
	}
	return res, err
}

func (g *guard) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return guarded(ctx, g, "CancelTask", req, g.next.CancelTask)
}

func (g *guard) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return guarded(ctx, g, "SendMessage", req, g.next.SendMessage)
}

func (g *guard) Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) Events {
	return guardedStream(ctx, g, "SendStreamingMessage", req, after, g.next.Stream)
}

func (g *guard) Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) Events {
	return guardedStream(ctx, g, "SubscribeToTask", req, after, g.next.Resume)
}

func (g *guard) GetTaskPushConfig(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return guarded(ctx, g, "GetTaskPushConfig", req, g.next.GetTaskPushConfig)
}

func (g *guard) ListTaskPushConfigs(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
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

func (g *guard) CreateTaskPushConfig(ctx context.Context, req *a2a.PushConfig) (*a2a.PushConfig, error) {
	return guarded(ctx, g, "CreateTaskPushConfig", req, g.next.CreateTaskPushConfig)
}

func (g *guard) DeleteTaskPushConfig(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	_, err := guarded(ctx, g, "DeleteTaskPushConfig", req,
		func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
			return struct{}{}, g.next.DeleteTaskPushConfig(ctx, req)
		})
	return err
}

func (g *guard) GetExtendedAgentCard(ctx context.Context, req *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return guarded(ctx, g, "GetExtendedAgentCard", req, g.extendedCard)
}
