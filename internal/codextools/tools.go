// Package codextools has the workspace tools as codex gets them: made by the settings, by the door that these name.
package codextools

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/attachments"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// New makes the tools of a workspace.
func New(s settings.Settings, client toolset.Platform, redact *logging.Redactor, more toolset.Config) *toolset.Set {
	more.Platform, more.Workspace, more.Files = client, s.WorkspaceID, attachments.SendableOf(s)
	more.Delegation, more.ViaInbox, more.Redact = delegation(s), s.ViaInbox, redact.String
	return toolset.New(more)
}

func delegation(s settings.Settings) time.Duration {
	return time.Duration(s.DelegationSecs) * time.Second
}

// Identity is what get_runtime_identity tells: what these variables hold.
func Identity(variable func(string) string) map[string]string {
	all := map[string]string{}
	for _, name := range []string{"MODEL", "MODEL_PROVIDER", "MOLECULE_MODEL", "ANTHROPIC_BASE_URL", "TIER", "WORKSPACE_ID", "ADAPTER_MODULE"} {
		all[name] = variable(name)
	}
	return all
}
