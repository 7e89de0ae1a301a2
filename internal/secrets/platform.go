package secrets

import (
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// PlatformClient speaks for the workspace that the runtime is.
func PlatformClient(s settings.Settings, redact *logging.Redactor) *platform.Client {
	return platform.New(PlatformConfig(s, redact))
}

// PlatformConfig is how the platform of the workspace is called, with the token where the settings have it.
func PlatformConfig(s settings.Settings, redact *logging.Redactor) platform.Config {
	files := []string{filepath.Join(s.ConfigsDir, platform.TokenFile)}
	if s.TokenFile != "" {
		files = append([]string{s.TokenFile}, files...)
	}
	return platform.Config{
		URL: s.PlatformURL, Workspace: s.WorkspaceID, Org: s.OrgID,
		Token: platform.Token{Files: files, Value: s.WorkspaceToken.Reveal()},
		Seen:  redact.Newest(MostGiven),
	}
}

// SpaceConfig is how the platform of a workspace is called.
func SpaceConfig(s settings.Settings, w settings.Space) platform.Config {
	return platform.Config{URL: w.URL, Workspace: w.ID, Org: s.OrgID, Token: spaceToken(w)}
}

func spaceToken(w settings.Space) platform.Token {
	t := platform.Token{Value: w.Token.Reveal()}
	if w.TokenFile != "" {
		t.Files = []string{w.TokenFile}
	}
	return t
}
