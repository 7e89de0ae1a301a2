package toolset

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Platform is what the tools need of the platform; a [platform.Client] is one.
type Platform interface {
	Peers(ctx context.Context) ([]platform.Peer, error)
	Workspace(ctx context.Context) (platform.Info, error)
	UpdateCard(ctx context.Context, card any) error

	Send(ctx context.Context, target string, m platform.Message) (platform.Reply, error)
	Delegate(ctx context.Context, task platform.Task) (platform.Delegated, error)
	Delegations(ctx context.Context) ([]platform.Delegation, error)
	Broadcast(ctx context.Context, message string) (int, error)
	ActivityRows(ctx context.Context, q platform.RowQuery) ([]platform.Row, error)

	Upload(ctx context.Context, files ...platform.File) ([]platform.Attachment, error)
	Notify(ctx context.Context, message string, attachments ...platform.Attachment) error
	CreateRequest(ctx context.Context, ask platform.Ask) (platform.Asked, error)
	InstallPlugin(ctx context.Context, source string) (platform.Installed, error)

	CommitMemory(ctx context.Context, m platform.Memory) (platform.Memory, error)
	RecallMemory(ctx context.Context, r platform.Recall) (found []platform.Memory, more bool, err error)
}

var _ Platform = (*platform.Client)(nil)
