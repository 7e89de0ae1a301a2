package tasks

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// GetExtendedAgentCard implements a2asrv.RequestHandler. Cards are the server's:
// it knows the URL that its caller used.
func (e *Engine) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, refuse(a2a.ErrExtendedCardNotConfigured, "there is no extended agent card; the public one says it all")
}

func noPush() error {
	return refuse(a2a.ErrPushNotificationNotSupported, "push notifications are not supported; stream the task or subscribe to it")
}

// GetTaskPushConfig implements a2asrv.RequestHandler.
func (e *Engine) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, noPush()
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (e *Engine) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return nil, noPush()
}

// CreateTaskPushConfig implements a2asrv.RequestHandler.
func (e *Engine) CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) {
	return nil, noPush()
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler.
func (e *Engine) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return noPush()
}
