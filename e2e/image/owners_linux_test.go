package image

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// The users of a place where start.sh runs without a container.
const (
	agentID  = 4242
	keeperID = 4243
)

// A yard is where start.sh runs without a container, for users that have numbers in the place of
// names.
type yard struct {
	t                  *testing.T
	dir, configs, work string
}

// newYard has volumes in which all is the agent's.
func newYard(t *testing.T) *yard {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("root alone has others' files")
	}
	y := &yard{t: t, dir: t.TempDir()}
	y.configs, y.work = filepath.Join(y.dir, "configs"), filepath.Join(y.dir, "work")
	if err := errors.Join(os.Chmod(filepath.Dir(y.dir), 0o755), os.Chmod(y.dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{y.configs, filepath.Join(y.configs, ".runtime"), filepath.Join(y.configs, ".codex"), y.work, filepath.Join(y.dir, "home")} {
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, agentID, agentID)); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(y.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	const numbers = `for arg; do
	shift
	case $arg in
	agent | --*=agent) arg=${arg%agent}4242 ;;
	runtime | --*=runtime) arg=${arg%runtime}4243 ;;
	agent:) arg=4242:4242 ;;
	runtime:) arg=4243:4243 ;;
	runtime:agent) arg=4243:4242 ;;
	esac
	set -- "$@" "$arg"
done
`
	script, err := os.ReadFile(filepath.Join(codextest.Root(t), "start.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"chown": numbers + `exec /bin/chown "$@"`, "find": numbers + `exec /usr/bin/find "$@"`, "setpriv": numbers + `exec /usr/bin/setpriv "$@"`,
		"id":               `case $1 in -G) echo 4242 ;; -un) [ "$(/usr/bin/id -u)" = 4243 ] && echo runtime || echo other ;; *) exec /usr/bin/id "$@" ;; esac`,
		"molecule-runtime": `echo "works in ${RUNTIME_WORKDIR:-/workspace}"`, "tini": `shift 2; exec "$@"`,
		"start.sh": strings.NewReplacer(" /workspace", " "+y.work, "/home/agent", filepath.Join(y.dir, "home")).Replace(string(script)),
	} {
		if !strings.HasPrefix(text, "#!") {
			text = "#!/bin/sh\n" + text + "\n"
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

// start starts, and returns what is said.
func (y *yard) start() string {
	y.t.Helper()
	cmd := exec.CommandContext(y.t.Context(), "/bin/sh", filepath.Join(y.dir, "bin", "start.sh"), "serve")
	cmd.Env = []string{"PATH=" + filepath.Join(y.dir, "bin") + ":/usr/bin:/bin", "CONFIGS_DIR=" + y.configs, "TMPDIR=/tmp"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		y.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func owner(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// TestStateWithAnotherName: a command can have given the state, or a token, a second name in
// codex's home while there was one user. It is the runtime's all the same, and what is codex's is
// the agent's.
func TestStateWithAnotherName(t *testing.T) {
	y := newYard(t)
	own := filepath.Join(y.configs, ".codex", "config.toml")
	files := []string{filepath.Join(y.configs, ".runtime", "state.db"), filepath.Join(y.configs, ".auth_token"), own}
	for _, name := range files {
		if err := errors.Join(os.WriteFile(name, []byte("x"), 0o600), os.Chown(name, agentID, agentID)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range files[:2] {
		if err := os.Link(name, filepath.Join(y.configs, ".codex", []string{"kept", "kept-too"}[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(own, 0, 0); err != nil { // as root brings it
		t.Fatal(err)
	}
	for range 2 {
		said := y.start()
		for _, name := range files[:2] {
			if got := owner(t, name); got != keeperID {
				t.Errorf("%s is user %d's\n%s", name, got, said)
			}
		}
		if got := owner(t, own); got != agentID {
			t.Errorf("codex's own is user %d's\n%s", got, said)
		}
	}
}

// TestStartRunsNoGit: it would go by what commands have left, as a pipe in the place of a
// repository's HEAD, which it waits at, or a file to trace its environment to.
func TestStartRunsNoGit(t *testing.T) {
	y := newYard(t)
	if err := os.WriteFile(filepath.Join(y.dir, "bin", "git"), []byte("#!/bin/sh\necho git is run\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := y.start(); !strings.Contains(got, "works in /workspace") || strings.Contains(got, "git is run") {
		t.Error(got)
	}
}

// TestRightsThatACommandTook: a start works where the last one did, though a command has taken
// the owner's rights to that.
func TestRightsThatACommandTook(t *testing.T) {
	y := newYard(t)
	if got := y.start(); !strings.Contains(got, "works in /workspace") {
		t.Fatal(got)
	}
	for _, mode := range []os.FileMode{0o500, 0} {
		if err := os.Chmod(y.work, mode); err != nil {
			t.Fatal(err)
		}
		if got := y.start(); !strings.Contains(got, "works in /workspace") || !strings.Contains(got, "are given back") {
			t.Error(got)
		}
		if info, err := os.Stat(y.work); err != nil || info.Mode().Perm() != 0o700|mode {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}
