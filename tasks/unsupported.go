package tasks

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// GetExtendedAgentCard implements a2asrv.RequestHandler. Cards are the server's:
// it knows the URL that its caller used.
func (e *Engine) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, refusal.New(a2a.ErrExtendedCardNotConfigured, "there is no extended agent card; the public one says it all")
}
