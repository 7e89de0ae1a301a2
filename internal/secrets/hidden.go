package secrets

import (
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Hidden is what is never handed out: folders, and files that the operator has put
// somewhere else.
func Hidden(s settings.Settings) []string {
	all := []string{s.StateDir, s.CodexHome}
	more := append([]string{s.TokenFile, s.MachinesSecret, s.SecretsDir}, wireFiles(s)...)
	for _, space := range s.Spaces {
		more = append(more, space.TokenFile)
	}
	for _, file := range more {
		if file != "" {
			all = append(all, file)
		}
	}
	if s.ConfigsDir != "" { // by their names they are hidden anyway; under another one they are compared with
		all = append(all, filepath.Join(s.ConfigsDir, platform.TokenFile), filepath.Join(s.ConfigsDir, platform.InboundSecretFile))
	}
	return all
}

// wireFiles are the files of that record.
func wireFiles(s settings.Settings) []string {
	if s.DebugWire == "" {
		return nil
	}
	return []string{s.DebugWire, s.DebugWire + wirelog.OldSuffix}
}
