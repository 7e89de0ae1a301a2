package adapter

import (
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

// traces are where git says what it does before it looks at its number of settings, also as a file of the
// user's home has it (trace2.eventTarget): it appends to whatever that names. Its 0 is for commands, too.
var traces = []string{"GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE2_PERF"} //nolint:gochecknoglobals // a constant

// anyPath is the PATH of a codex that is left with none: an empty one, or in some shells
// none, would lead to wherever a program is started.
const anyPath = "PATH=/usr/local/bin:/usr/bin:/bin"

// Dir is the folder that codex itself is started in. In a sandbox that is one which commands
// cannot write: codex starts programs there by itself, such as the one of notify.
func (l Launch) Dir() string {
	if l.Sandboxed {
		return l.Home
	}
	return l.WorkDir
}

// guarded is the environment of codex: what it runs by itself is nothing that commands in
// a sandbox can write. Where it is messages that ask for one, only git is out of their reach
// so: commands without a sandbox have codex's PATH and libraries, and a message has no
// sandbox in which it could write what these lead to ([Launch.Loaded]).
func (l Launch) guarded(env []string) []string {
	env = append(without(env, gitSettings), gitSettings+"="+noGit)
	for _, name := range traces {
		env = append(without(env, name), name+"=0")
	}
	if !l.Sandboxed {
		return env
	}
	out := make([]string, 0, len(env)+1)
	path := false
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		beside := within.Beside(l.fixedRoots(), name, value)
		if beside == "" && (value != "" || name == "PATH") {
			continue
		}
		path = path || name == "PATH"
		out = append(out, name+"="+beside)
	}
	if !path {
		out = append(out, anyPath)
	}
	return out
}

// fixedRoots are the directories that commands may write in their sandbox, but for those
// that codex's own configuration adds.
func (l Launch) fixedRoots() []string {
	dirs := l.Temp.Roots()
	if l.WorkDir != "" {
		dirs = append(dirs, l.WorkDir)
	}
	return dirs
}

// Loaded are the places that codex itself loads programs from. The user's configuration may
// let commands write them, which is known when codex says so, and so may a message that asks
// for a sandbox of its own.
func (l Launch) Loaded() (places []within.Place) {
	for _, kv := range l.Env() {
		name, value, _ := strings.Cut(kv, "=")
		for _, path := range within.Loaded(name, value) {
			places = append(places, within.Place{Name: name, Path: path})
		}
	}
	return places
}

// Env returns the whole environment of an app-server.
func (l Launch) Env() []string {
	return l.Temp.env(l.guarded(userEnv(ChildEnv(l.Environ, l.Home, l.Provider), l.User)))
}
