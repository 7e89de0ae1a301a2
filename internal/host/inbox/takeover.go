package inbox

import (
	"context"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/takeover"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
)

// takeOver has conversations go on where the bridge that was run before has left them.
func takeOver(ctx context.Context, g *host.Ground, workspaces []string) error {
	s := g.Settings
	return takeover.Run(ctx, takeover.Config{
		Sessions:     filepath.Join(s.ChannelDir, "sessions.json"),
		Marker:       filepath.Join(s.StateDir, "sessions.taken-over"),
		Conversation: func(chat string) string { return channel.ConversationOf(chat, workspaces) },
		Resumable:    rollout.Home{Dir: s.CodexHome, User: s.User}.Has,
		Adopt: func(ctx context.Context, sessions map[string]string) (int, error) {
			return g.Journal.AdoptThreads(ctx, sessions, codex.ForeignTools)
		},
		Logger: g.Logger,
	})
}
