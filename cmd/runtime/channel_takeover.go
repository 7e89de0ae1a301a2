package main

import (
	"context"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/takeover"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// takeOver has conversations go on where the bridge that was run before has left them.
func (box *inbox) takeOver(ctx context.Context) error {
	workspaces := make([]string, 0, len(box.spaces))
	for _, m := range box.spaces {
		workspaces = append(workspaces, m.id)
	}
	return takeover.Run(ctx, takeover.Config{
		Sessions:     filepath.Join(box.s.ChannelDir, "sessions.json"),
		Marker:       filepath.Join(box.s.StateDir, "sessions.taken-over"),
		Conversation: func(chat string) string { return channel.ConversationOf(chat, workspaces) },
		Resumable: func(session string) (bool, error) {
			return asuser.Value(box.s.User, func() (bool, error) { return appserver.HasRollout(box.s.CodexHome, session) })
		},
		Adopt: func(ctx context.Context, sessions map[string]string) (int, error) {
			return box.store.AdoptThreads(ctx, sessions, executor.ForeignTools)
		},
		Logger: box.log,
	})
}
