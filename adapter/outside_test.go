package adapter

import (
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// TestGuarded: codex itself has nothing by its environment that commands can write, and they
// have theirs, but for what would be loaded before they are in the sandbox.
func TestGuarded(t *testing.T) {
	l := Launch{Home: "/h", WorkDir: "/w", Temp: Temp{Commands: "/tmp/codex", Codex: "/tmp/own"}, Sandboxed: true, Environ: []string{
		"PATH=/w/bin:/bin:/tmp/codex/bin", "LD_LIBRARY_PATH=:/lib:/w", "LD_PRELOAD=/w/x.so", "BASH_ENV=/w/env.sh",
		"PYTHONPATH=/w:/opt/py", "NODE_PATH=/opt/node", "VIRTUAL_ENV=/w/.venv", "A=",
	}}
	want := []string{
		"PATH=/bin", "LD_LIBRARY_PATH=/lib", "PYTHONPATH=/opt/py", "NODE_PATH=/opt/node", "VIRTUAL_ENV=/w/.venv", "A=",
		"CODEX_HOME=/h", "GIT_CONFIG_COUNT=none-for-codex-itself", "GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0", "TMPDIR=/tmp/own",
	}
	if got := l.Env(); !slices.Equal(got, want) {
		t.Errorf("codex has %q, want %q", got, want)
	}
	given := strings.Join(l.given(nil), " ")
	if want := `-c shell_environment_policy.set.GIT_CONFIG_COUNT="0" -c shell_environment_policy.set.BASH_ENV="/w/env.sh" -c shell_environment_policy.set.PYTHONPATH="/w:/opt/py"`; given != want {
		t.Errorf("commands are given %q, want %q", given, want)
	}
	places := []within.Place{{Name: "PATH", Path: "/bin"}, {Name: "LD_LIBRARY_PATH", Path: "/lib"}, {Name: "PYTHONPATH", Path: "/opt/py"}, {Name: "NODE_PATH", Path: "/opt/node"}, {Name: "TMPDIR", Path: "/tmp/own"}}
	if got := l.Loaded(); !slices.Equal(got, places) {
		t.Errorf("codex loads from %v, want %v", got, places)
	}
	for _, environ := range [][]string{nil, {"PATH="}, {"PATH=.:/w"}} {
		l.Environ = environ
		if got := l.Env(); !slices.Contains(got, "PATH=/usr/local/bin:/usr/bin:/bin") || slices.Contains(got, "PATH=") {
			t.Errorf("of %q codex has %q", environ, got)
		}
	}
}

// TestGuardedWithoutASandbox: messages can ask for one, so codex's own git is out of reach of
// commands all the same; the rest of the environment is as it was, and what it leads to is known.
func TestGuardedWithoutASandbox(t *testing.T) {
	l := Launch{Home: "/h", WorkDir: "/w", Temp: Temp{Commands: "/tmp/codex", Codex: "/tmp/own"}, Environ: []string{"PATH=.:/w/bin", "BASH_ENV=/w/env.sh", "GIT_CONFIG_COUNT=2"}}
	want := []string{"PATH=.:/w/bin", "BASH_ENV=/w/env.sh", "CODEX_HOME=/h", "GIT_CONFIG_COUNT=none-for-codex-itself", "GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0", "TMPDIR=/tmp/own"}
	if got := l.Env(); !slices.Equal(got, want) {
		t.Errorf("codex has %q, want %q", got, want)
	}
	if got, want := strings.Join(l.given(nil), " "), `-c shell_environment_policy.set.GIT_CONFIG_COUNT="2"`; got != want {
		t.Errorf("commands are given %q, want %q", got, want)
	}
	places := []within.Place{{Name: "PATH", Path: "."}, {Name: "PATH", Path: "/w/bin"}, {Name: "BASH_ENV", Path: "/w/env.sh"}, {Name: "TMPDIR", Path: "/tmp/own"}}
	if got := l.Loaded(); !slices.Equal(got, places) {
		t.Errorf("codex loads from %v, want %v", got, places)
	}
}
