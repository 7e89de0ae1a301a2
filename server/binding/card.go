package binding

import (
	"context"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
)

// UnionCard is the card with the members of both versions. A card that names no
// interface for 0.3 has no such form and is left as it is.
func UnionCard(ctx context.Context, card *a2a.AgentCard) (json.RawMessage, error) {
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolVersion == a2av0.Version {
			return adapter.UnionCard(ctx, card)
		}
	}
	return json.Marshal(card)
}
