package adapter

import (
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// At the beginning of a turn codex asks git about the folder, outside of its sandbox, and
// git runs what that repository's configuration says, such as the filters of its files
// (seen on 0.169.0). Commands can make a repository wherever they write. So codex's own git
// ends before it looks at anything: git takes no other number of settings than a number.
// Commands have what the environment says.
const (
	gitSettings = "GIT_CONFIG_COUNT"
	noGit       = "none-for-codex-itself"
)

// guarded is the environment of a codex whose sandbox holds its commands: what codex runs
// by itself is nothing that they can write.
func (l Launch) guarded(env []string) []string {
	if !l.Sandboxed {
		return env
	}
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, gitSettings+"=") })
	for i, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			env[i] = "PATH=" + within.Outside(l.WorkDir, path)
		}
	}
	return append(env, gitSettings+"="+noGit)
}

// given are the arguments that give commands back the git that codex itself has not. PATH is
// not given back: what builds the sandbox would have it, too, and looks for programs by it.
func (l Launch) given() []string {
	if !l.Sandboxed {
		return nil
	}
	settings := lookup(l.Environ)(gitSettings)
	if settings == "" {
		settings = "0"
	}
	return override("shell_environment_policy.set."+gitSettings, tomlString(settings))
}
