package outside

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// Alone are the tools of a workspace whose inbox is never kept here, for a reason; without one its messages come as turns
// of the codex that is the MCP host. The function ends what they take.
func Alone(s settings.Settings, redact *logging.Redactor, log *slog.Logger, identity map[string]string, why string) (register func(*mcp.Server), end func()) {
	var inbox toolset.Inbox
	if why != "" {
		inbox = elsewhere{why}
	}
	set, end := codextools.Alone(s, redact, identity, log, inbox)
	return set.Register, end
}

// elsewhere is an inbox that this process never keeps. It implements [toolset.Inbox].
type elsewhere struct{ why string }

func (e elsewhere) words() string {
	return e.why + " There is nothing to wait for here. The other tools work."
}

// Keeps implements [toolset.Inbox].
func (elsewhere) Keeps() bool { return false }

// Wait implements [toolset.Inbox].
func (e elsewhere) Wait(context.Context, time.Duration) (string, error) { return e.words(), nil }

// Peek implements [toolset.Inbox].
func (e elsewhere) Peek(context.Context, toolset.Peek) (string, error) { return e.words(), nil }

// Pop implements [toolset.Inbox].
func (e elsewhere) Pop(_ context.Context, _, id string) (string, error) {
	return brief.Pretty(map[string]any{"removed": false, "activity_id": id, "note": e.words()})
}

// Reply implements [toolset.Inbox].
func (e elsewhere) Reply(_ context.Context, _, id, _ string, _ []string) (string, error) {
	return brief.Pretty(map[string]any{"replied": false, "activity_id": id, "note": e.words()})
}

// Telling implements [toolset.Inbox].
func (elsewhere) Telling(context.Context, string, string, string) (func(error), error) {
	return func(error) {}, nil
}
