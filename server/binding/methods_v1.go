package binding

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// v1Methods are the methods of A2A 1.0.
func v1Methods(g *guard.Guard) map[string]method {
	return map[string]method{
		"SendMessage": {unary: unary(wire.V1MessageRPC, func(ctx context.Context, req *a2a.SendMessageRequest) (any, error) {
			result, err := g.SendMessage(ctx, req)
			return a2a.StreamResponse{Event: result}, err
		})},
		"SendStreamingMessage":             streaming(wire.FormV1(), wire.V1MessageRPC, g.Stream),
		"SubscribeToTask":                  streaming(wire.FormV1(), wire.V1Params, g.Resume),
		"GetTask":                          {unary: unary(wire.V1Params, g.GetTask)},
		"ListTasks":                        {unary: unary(wire.V1Params, g.ListTasks)},
		"CancelTask":                       {unary: unary(wire.V1Params, g.CancelTask)},
		"GetExtendedAgentCard":             {unary: unary(wire.V1Params, g.GetExtendedAgentCard)},
		"CreateTaskPushNotificationConfig": {push: true, unary: unary(wire.V1Params, g.CreateTaskPushConfig)},
		"GetTaskPushNotificationConfig":    {push: true, unary: unary(wire.V1Params, g.GetTaskPushConfig)},
		"ListTaskPushNotificationConfigs":  {push: true, unary: unary(wire.V1Params, g.ListTaskPushConfigs)},
		"DeleteTaskPushNotificationConfig": {push: true, unary: unary(wire.V1Params, func(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) (struct{}, error) {
			return struct{}{}, g.DeleteTaskPushConfig(ctx, req)
		})},
	}
}
