package guard

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// checkExtensions refuses a caller who does not know an extension that the card
// says is required.
func (g *Guard) checkExtensions(ctx context.Context) error {
	var known []string
	if cc, ok := a2asrv.CallContextFrom(ctx); ok {
		known = cc.Extensions().RequestedURIs()
	}
	for _, ext := range g.promised.Extensions {
		if ext.Required && !slices.Contains(known, ext.URI) {
			return a2a.NewError(a2a.ErrExtensionSupportRequired,
				"the agent requires the extension "+ext.URI+"; name it in the header A2A-Extensions if you support it").
				WithErrorInfoMeta(map[string]string{"extension": ext.URI})
		}
	}
	return nil
}

// checkStreaming refuses a stream that the card does not promise.
func (g *Guard) checkStreaming() error {
	if g.promised.Streaming {
		return nil
	}
	return a2a.NewError(a2a.ErrUnsupportedOperation, "the agent does not stream, as its card says; send without streaming and get the task")
}

// CheckPush refuses push notifications unless the card promises them, whatever
// else is wrong with the request.
func (g *Guard) CheckPush() error {
	if g.promised.PushNotifications {
		return nil
	}
	return a2a.NewError(a2a.ErrPushNotificationNotSupported, "push notifications are not supported; stream the task or subscribe to it")
}

// extendedCard answers with the extended card. In 1.0 the card promises it or
// not; what 0.3 has instead is the one error of not having it.
func (g *Guard) extendedCard(ctx context.Context, _ *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	call := callOf(ctx)
	switch {
	case !call.V0 && !g.promised.ExtendedAgentCard:
		return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "the agent has no extended card, as its card says; the public one says it all")
	case g.extended == nil:
		return nil, a2a.NewError(a2a.ErrExtendedCardNotConfigured, "there is no extended agent card; the public one says it all")
	}
	return g.extended(call.BaseURL), nil
}
