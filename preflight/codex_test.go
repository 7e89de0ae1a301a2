package preflight

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// takesAll takes every version.
func takesAll(context.Context, string) Result { return ok("") }

const getIt = "get it"

func TestCodexSaysWhyItWouldNotStart(t *testing.T) {
	dir := t.TempDir()
	foreign := make([]byte, 64) // the header of an ELF file for MIPS
	copy(foreign, "\x7fELF\x02\x01\x01")
	foreign[16], foreign[18], foreign[20], foreign[52], foreign[54], foreign[58] = 2, 8, 1, 64, 56, 64
	for name, c := range map[string]struct{ bin, detail string }{
		"not-in-path":    {"codex", "codex is not in PATH"},
		"missing":        {filepath.Join(dir, "none"), "there is no " + dir},
		"directory":      {dir, "is not a file"},
		"not-executable": {file(t, dir, "plain", "", 0o644), "is not executable for this user (mode -rw-r--r--)"},
		"foreign":        {file(t, dir, "mips", string(foreign), 0o755), "is built for EM_MIPS"},
		"no-interpreter": {file(t, dir, "node", "#!/no/such/node\n", 0o755), "is a script for /no/such/node, which is not here"},
		"empty":          {file(t, dir, "empty", "", 0o755), "exec format error"},
		"another":        {file(t, dir, "other", "#!/bin/sh\necho other 1.0\n", 0o755), "is not codex"},
		"floods":         {file(t, dir, "floods", "#!/bin/sh\nhead -c 30000000 /dev/zero | tr '\\0' 9\n", 0o755), "is not codex"},
		"breaks":         {file(t, dir, "breaks", "#!/bin/sh\necho 'libfoo.so not found' >&2\nexit 127\n", 0o755), "exit status 127 libfoo.so not found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Codex(Program{Bin: c.bin}, getIt, takesAll).Do(t.Context())
			expect(t, r, Fail, c.detail, getIt)
			if len(r.Detail) > 400 {
				t.Errorf("it says %d characters", len(r.Detail))
			}
		})
	}
}

// TestCodexIsJudged by its version, whatever that is.
func TestCodexIsJudged(t *testing.T) {
	for says, want := range map[string]string{
		"echo codex-cli 0.1.0": "0.1.0",
		"echo codex-cli 1.$(head -c 30000 /dev/zero | tr '\\0' 9)": "1." + strings.Repeat("9", 58),
	} {
		var judged string
		r := Codex(Program{Bin: file(t, t.TempDir(), "codex", "#!/bin/sh\n"+says+"\n", 0o755)}, getIt, func(_ context.Context, version string) Result {
			judged = version
			return warn("old", "mend it")
		}).Do(t.Context())
		expect(t, r, Warn, "old", "mend it")
		if judged != want {
			t.Errorf("judged as %q, want %q", judged, want)
		}
	}
}

// TestCodexDescribesItself into the folder that it is told, with files for each type.
func TestCodexDescribesItself(t *testing.T) {
	p := Program{Bin: codextest.Bin(t), Env: append(os.Environ(), "CODEX_HOME="+codextest.Home(t))}
	version, why := p.Version(t.Context())
	if version == "" || why != "" {
		t.Errorf("the version is %q: %s", version, why)
	}
	folder := filepath.Join(t.TempDir(), "schema")
	if err := p.Describe(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "ClientRequest.json")); err != nil || !strings.Contains(string(text), "turn/start") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	p.Bin = file(t, t.TempDir(), "codex", "#!/bin/sh\necho no such subcommand >&2\nexit 2\n", 0o755)
	if err := p.Describe(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "no such subcommand") {
		t.Errorf("of one that does not: %v", err)
	}
}

func TestSandboxIsReallyTried(t *testing.T) {
	p := SandboxProbe{
		Bin: codextest.Bin(t), Mode: "workspace-write",
	}
	p.Home = codextest.Home(t)
	p.Env = append(os.Environ(), "CODEX_HOME="+p.Home)
	expect(t, Sandbox(p).Do(t.Context()), OK, "a command ran in it", "")
}

// TestWhereCodexIsTried is nowhere near the working directory: the launcher of a version manager
// would run what a file in there names.
func TestWhereCodexIsTried(t *testing.T) {
	home, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	bin := file(t, t.TempDir(), "codex", "#!/bin/sh\npwd -P >> "+seen+"\necho codex-cli 1.2.3\n", 0o755)
	t.Chdir(t.TempDir())
	expect(t, Codex(Program{Bin: bin}, getIt, takesAll).Do(t.Context()), OK, "", "")
	expect(t, Sandbox(SandboxProbe{Bin: bin, Mode: "workspace-write", Home: home}).Do(t.Context()), OK, "a command ran in it", "")
	if got, err := os.ReadFile(seen); err != nil || string(got) != "/\n"+home+"\n" {
		t.Errorf("it is tried in %q, %v", got, err)
	}
}

func TestSandboxRunsACommandInIt(t *testing.T) {
	dir := t.TempDir()
	bin := file(t, dir, "codex", "#!/bin/sh\n[ \"$*\" = 'sandbox -- true' ]\n", 0o755)
	expect(t, Sandbox(SandboxProbe{Bin: bin, Mode: "read-only"}).Do(t.Context()), OK, "a command ran in it", "")
}

func TestSandboxThatDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	bin := file(t, dir, "codex", "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", 0o755)
	p := SandboxProbe{Bin: bin, Mode: "workspace-write"}
	r := Sandbox(p).Do(t.Context())
	expect(t, r, Fail, "No permissions to create new namespace", "CODEX_SANDBOX=danger-full-access")
	expect(t, r, Fail, "workspace-write does not start", "seccomp=unconfined")
}

// TestSandboxWithoutNamespaces: where a command has taken them, the sandbox is not to be given up.
func TestSandboxWithoutNamespaces(t *testing.T) {
	bin := file(t, t.TempDir(), "codex", "#!/bin/sh\necho 'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)' >&2\nexit 1\n", 0o755)
	r := Sandbox(SandboxProbe{Bin: bin, Mode: "workspace-write"}).Do(t.Context())
	expect(t, r, Fail, "does not start now", "end it, or restart the runtime")
	if strings.Contains(r.Fix, "danger-full-access") {
		t.Errorf("the advice is %q", r.Fix)
	}
}

// TestSandboxWithoutItsFolder: what is wrong is said of codex's folder of sockets, and not of
// the kernel.
func TestSandboxWithoutItsFolder(t *testing.T) {
	dir := t.TempDir()
	bin := file(t, dir, "codex", "#!/bin/sh\n", 0o755)
	sockets := filepath.Join(dir, "sockets")
	probe := Sandbox(SandboxProbe{Bin: bin, Mode: "workspace-write", Sockets: sockets})
	expect(t, probe.Do(t.Context()), OK, "a command ran in it", "")
	if err := os.Mkdir(sockets, 0o700); err != nil {
		t.Fatal(err)
	}
	expect(t, probe.Do(t.Context()), OK, "a command ran in it", "")
	if err := os.Chmod(sockets, 0o755); err != nil {
		t.Fatal(err)
	}
	expect(t, probe.Do(t.Context()), Fail, sockets+" is drwxr-xr-x of user", "PrivateTmp=yes")
}

func TestSandboxThatHangsIsEnded(t *testing.T) {
	dir := t.TempDir()
	bin := file(t, dir, "codex", "#!/bin/sh\nsleep 300 & echo $! > "+dir+"/pid\nwait\n", 0o755)
	start := time.Now()
	r := Sandbox(SandboxProbe{Bin: bin, Mode: "read-only", Limit: 3 * time.Second, Env: []string{"PATH=/usr/bin:/bin"}}).Do(t.Context())
	expect(t, r, Fail, "no answer within 3s", "")
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v: the sleeping grandchild was waited for", took)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // a kill is not instant
		state := stateOf(strings.TrimSpace(string(pid)))
		if state == "" || state == "Z" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the grandchild lives on in state %s", state)
		}
	}
}

// stateOf returns the state letter of a process, or "" if it is gone. A killed
// orphan stays a zombie where nothing reaps.
func stateOf(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:1]
}

func TestNoSandboxWanted(t *testing.T) {
	p := SandboxProbe{Bin: "none", Mode: "danger-full-access"}
	expect(t, Sandbox(p).Do(t.Context()), Warn, "danger-full-access", "unset CODEX_SANDBOX")
	p.Contained = true
	expect(t, Sandbox(p).Do(t.Context()), OK, "the container is the boundary", "")
	p.Mode = "workspace-write"
	expect(t, Sandbox(p).Do(t.Context()), Fail, "not tried", "see the check codex")
}
