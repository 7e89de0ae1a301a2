package image

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
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
		"id":               `case "$*" in -G*) echo 4242 ;; "-u agent" | "-g agent") echo 4242 ;; -un) [ "$(/usr/bin/id -u)" = 4243 ] && echo runtime || echo other ;; *) exec /usr/bin/id "$@" ;; esac`,
		"molecule-runtime": `echo "works in ${RUNTIME_WORKDIR:-/workspace} with $PATH as ${CODEX_USER-one}"`, "tini": `shift 2; exec "$@"`,
		"start.sh": strings.NewReplacer(" /workspace", " "+y.work, " /configs)", " "+y.configs+")", "/home/agent", filepath.Join(y.dir, "home")).Replace(string(lookedForIn(bin, script))),
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
func (y *yard) start(env ...string) string {
	y.t.Helper()
	out, err := y.try(env...)
	if err != nil {
		y.t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// try starts, if that can be.
func (y *yard) try(env ...string) (string, error) {
	return y.tryTo("serve", env...)
}

// tryTo has a command carried out.
func (y *yard) tryTo(command string, env ...string) (string, error) {
	cmd := exec.CommandContext(y.t.Context(), "/bin/sh", append([]string{filepath.Join(y.dir, "bin", "start.sh")}, strings.Fields(command)...)...)
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "CONFIGS_DIR=" + y.configs, "TMPDIR=/tmp"}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
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

// TestProgramsOfTheAgents: whatever the container's PATH is, none that a command has left is run before
// the program, which has that PATH; and no library of a command's is loaded into what root runs.
func TestProgramsOfTheAgents(t *testing.T) {
	y := newYard(t)
	ran := filepath.Join(y.dir, "ran")
	for _, name := range []string{"id", "find", "tr", "date", "setpriv", "tini", "molecule-runtime"} {
		writeScript(t, filepath.Join(y.work, name), "echo "+name+" >>"+ran)
	}
	path := y.work + ":/usr/bin:/bin"
	got := y.start("PATH="+path, "RUNTIME_WORKDIR="+y.work)
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("it runs %q", text)
	}
	if !strings.Contains(got, " with "+path+" as agent") || !strings.Contains(got, "PATH leads elsewhere") {
		t.Error(got)
	}
	for _, variable := range []string{"LD_PRELOAD=libnone.so.1 :/usr/lib/none.so", "LD_LIBRARY_PATH=/usr/local/none:/opt/none", "LD_AUDIT=", "LD_LIBRARY_PATH="} {
		if got := y.start(variable); !strings.Contains(got, "works in") {
			t.Errorf("%s: %s", variable, got)
		}
	}
	for _, variable := range []string{
		"LD_PRELOAD=/usr/lib/none.so " + y.work + "/x.so", "LD_PRELOAD=/" + y.work + "/x.so", "LD_PRELOAD=/usr/../var/tmp/x.so", "LD_PRELOAD=/usrs/x.so",
		"LD_LIBRARY_PATH=/usr/lib:", "LD_LIBRARY_PATH=:/usr/lib", "LD_LIBRARY_PATH=/usr/lib;/var/tmp", "LD_LIBRARY_PATH=x", "LD_AUDIT=./x.so", "LD_AUDIT=x/y.so",
	} {
		if got, err := y.try(variable, "RUNTIME_WORKDIR="+y.work); err == nil || !strings.Contains(got, "libraries would be taken") {
			t.Errorf("%s: %v\n%s", variable, err, got)
		}
	}
}

// TestAgentByItsNumbers: who the agent is can be said in each of the ways that the program takes.
func TestAgentByItsNumbers(t *testing.T) {
	for said, want := range map[string]string{"agent": "agent", " agent\r": "agent", "4242": "agent", "4242:4242": "agent", "": "", "\r": "\r"} {
		y := newYard(t)
		got := y.start("CODEX_USER=" + said)
		if apart := owner(t, y.configs) == keeperID; !strings.Contains(got, " as "+want+"\n") || apart != (want == "agent") {
			t.Errorf("%q: two users: %v\n%s", said, apart, got)
		}
	}
	for _, said := range []string{"4299", "root", "4242:100", "agent:4242", "04242"} {
		y := newYard(t)
		if got, err := y.try("CODEX_USER=" + said); err == nil || !strings.Contains(got, "is not the user") || owner(t, y.configs) != agentID {
			t.Errorf("%q: %v\n%s", said, err, got)
		}
	}
}

// TestBlankSettings are none, as they are to the program.
func TestBlankSettings(t *testing.T) {
	for _, name := range []string{"CONFIGS_DIR", "CODEX_HOME", "RUNTIME_STATE_DIR", "MOLECULE_WORKSPACE_TOKEN_FILE", "WORKSPACE_GIVE", "RUNTIME_WORKDIR"} {
		for _, blank := range []string{"", " ", "\r"} {
			y := newYard(t)
			if got := y.start(name + "=" + blank); !strings.Contains(got, "works in") || strings.Contains(got, "realpath") || strings.Contains(got, "none of its words") {
				t.Errorf("%s=%q: %s", name, blank, got)
			}
		}
	}
}

// TestGiveNothingByMistake: what is no word of WORKSPACE_GIVE gives nothing.
func TestGiveNothingByMistake(t *testing.T) {
	for said, want := range map[string]int{"": agentID, "directory": agentID, "directory\r": agentID, "all\r": agentID, "nothing": 0, "none": 0, "Nothing": 0} {
		y := newYard(t)
		if err := os.Chown(y.work, 0, 0); err != nil {
			t.Fatal(err)
		}
		got := y.start("WORKSPACE_GIVE="+said, "TMPDIR=/tmp")
		info, err := os.Stat(y.work)
		if err != nil || owner(t, y.work) != want || info.Mode().Perm() != 0o755 {
			t.Errorf("%q: %v, user %d's, %v\n%s", said, info.Mode(), owner(t, y.work), err, got)
		}
	}
}

// TestDirectoryOfTheHost: only a platform, and WORKSPACE_GIVE=all, open a directory of another user's to all users.
func TestDirectoryOfTheHost(t *testing.T) {
	for said, want := range map[string]os.FileMode{"": 0o755, "WORKSPACE_GIVE=directory": 0o755, "WORKSPACE_GIVE=all": 0o777, "WORKSPACE_ID=w": 0o777} {
		y := newYard(t)
		if err := os.Chown(y.work, 4299, 4299); err != nil {
			t.Fatal(err)
		}
		got := y.start(said)
		if info, err := os.Stat(y.work); err != nil || info.Mode().Perm() != want || owner(t, y.work) != 4299 {
			t.Errorf("%s: %v, %v\n%s", said, info.Mode(), err, got)
		}
	}
}

// TestServing: what stays has its volumes made ready, and nothing else does.
func TestServing(t *testing.T) {
	for command, want := range map[string]int{
		"": keeperID, "serve": keeperID, "channel": keeperID, "channel run": keeperID, "channel --once": keeperID,
		"machine": keeperID, "machine run": keeperID, "machine token": agentID, "machine fingerprint": agentID, "machine --help": agentID,
		"channel dead": agentID, "channel --help": agentID, "serve -h": agentID, "doctor": agentID, "task list": agentID,
	} {
		y := newYard(t)
		if got, err := y.tryTo(command); err != nil || owner(t, y.configs) != want {
			t.Errorf("%q: the volume is user %d's, %v\n%s", command, owner(t, y.configs), err, got)
		}
	}
}

// TestTokenFileStaysTheRuntimes, wherever in the configuration the operator has put it.
func TestTokenFileStaysTheRuntimes(t *testing.T) {
	for name, said := range map[string]string{
		"workspace.token": "/workspace.token", "w.token": "//./w.token\r", "[w].token": "/[w].token", "tokens/of/mine": "/tokens/of/mine",
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			y := newYard(t)
			file, prompt := filepath.Join(y.configs, name), filepath.Join(y.configs, "system-prompt.md")
			for _, name := range []string{file, prompt} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("x"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			got := y.start("CONFIGS_DIR="+y.configs+"/", "MOLECULE_WORKSPACE_TOKEN_FILE="+y.configs+said)
			info, err := os.Stat(file)
			if err != nil || owner(t, file) != keeperID || owner(t, filepath.Dir(file)) != keeperID || info.Mode().Perm() != 0o600 || owner(t, prompt) != agentID {
				t.Errorf("%v, user %d's, the prompt %d's, %v\n%s", info.Mode(), owner(t, file), owner(t, prompt), err, got)
			}
		})
	}
}

// TestFoldersInFolders: nothing far below the volumes' tops is looked at, which commands can make as deep
// as they like.
func TestFoldersInFolders(t *testing.T) {
	y := newYard(t)
	dir := filepath.Join(y.configs, ".codex", "tmp")
	near, far := filepath.Join(dir, "near"), filepath.Join(dir, strings.Repeat("d/", 100), "far")
	for _, name := range []string{near, far} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if got := y.start(); owner(t, near) != agentID || owner(t, far) != 0 {
		t.Errorf("near is user %d's, far %d's\n%s", owner(t, near), owner(t, far), got)
	}
}

// TestLinksOnTheWay: what a link of the agent's leads to stays whose it is, however the place behind it is
// named.
func TestLinksOnTheWay(t *testing.T) {
	for name, home := range map[string]string{"a slash": "home/.codex/", "above": "home/.config/codex", "dots": "home/.config/../.config//codex/."} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			file := filepath.Join(y.dir, "root", "codex", "program")
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o755)); err != nil {
				t.Fatal(err)
			}
			for from, to := range map[string]string{".codex": "../root", ".config": "../root"} {
				link := filepath.Join(y.dir, "home", from)
				if err := errors.Join(os.Symlink(to, link), os.Lchown(link, agentID, agentID)); err != nil {
					t.Fatal(err)
				}
			}
			if got := y.start("CODEX_HOME=" + y.dir + "/" + home); owner(t, file) != 0 {
				t.Errorf("the file is user %d's\n%s", owner(t, file), got)
			}
		})
	}
}
