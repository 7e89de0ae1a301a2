package launch

import (
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// MachineEnv is the environment of commands on a machine, without what is not theirs to know. No model is asked there, so
// that no key for one is needed.
func MachineEnv(s settings.Settings, environ []string) []string {
	env := adapter.ChildEnv(environ, s.CodexHome, adapter.Provider{})
	secret := []string{"CODEX_HOME"}
	for _, row := range settings.Rows() {
		if row.Secret {
			secret = append(secret, row.Name)
		}
	}
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(secret, name)
	})
	if s.User == nil {
		return env
	}
	return append(env, "USER="+s.User.Name, "LOGNAME="+s.User.Name, "HOME="+s.UserHome) // the last of a name counts
}
