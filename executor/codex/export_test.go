package codex

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// Follow has codex load a thread, as it does where a loading takes longer than we wait for it.
func (e *Driver) Follow(ctx context.Context, thread string, sandbox agent.Sandbox) error {
	on, err := e.child.Get(ctx)
	if err == nil {
		_, err = on.ThreadResume(ctx, appserver.ThreadResumeParams{ThreadID: thread, ExcludeTurns: true, Sandbox: appserver.SandboxMode(sandbox)})
	}
	return err
}
