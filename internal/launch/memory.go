package launch

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Memory is what the driver of codex finds in a store.
func Memory(of *store.Store) codex.Journal { return memory{of} }

type memory struct{ *store.Store }

// Past implements [codex.Journal].
func (m memory) Past(ctx context.Context, conversation string) (codex.Past, error) {
	known, err := m.Conversation(ctx, conversation)
	return codex.Past(known), err
}
