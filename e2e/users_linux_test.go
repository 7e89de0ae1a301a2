package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// The users of the runtime and of codex's commands, whom no file of the machine knows.
const (
	runtimeUser = 4243
	commandUser = 4242
	twoUsersEnv = "E2E_AS_RUNTIME_USER"
	oneUserEnv  = "E2E_AS_ONE_USER" // with it, it has no capability
)

// asRuntimeUser becomes the program as a user that is not root, with the two capabilities
// that the image leaves it.
func asRuntimeUser(program string) {
	runtime.LockOSThread() // what follows is of a thread
	must := func(what string, err error) {
		if err != nil {
			panic(what + ": " + err.Error())
		}
	}
	call := func(what string, trap, a, b, c uintptr) {
		if _, _, errno := unix.RawSyscall(trap, a, b, c); errno != 0 {
			must(what, errno)
		}
	}
	opened, err := unix.Open(program, unix.O_RDONLY, 0) // its folder is root's alone
	must("open the program", err)
	must("keep the capabilities", unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0))
	call("setgroups", unix.SYS_SETGROUPS, 0, 0, 0)
	call("setresgid", unix.SYS_SETRESGID, runtimeUser, runtimeUser, runtimeUser)
	call("setresuid", unix.SYS_SETRESUID, runtimeUser, runtimeUser, runtimeUser)
	rights := []uintptr{unix.CAP_SETUID, unix.CAP_SETGID}
	if os.Getenv(oneUserEnv) != "" {
		rights = nil
	}
	may := uint32(0)
	for _, right := range rights {
		may |= 1 << right
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	caps := [2]unix.CapUserData{{Effective: may, Permitted: may, Inheritable: may}}
	call("capset", unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&caps[0])), 0)
	for _, right := range rights {
		must("an ambient capability", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, right, 0, 0))
	}
	if os.Getenv(oneUserEnv) != "" { // with a process above it that has the same environment
		must("exec", syscall.Exec("/bin/sh", append([]string{"sh", "-c",
			`trap 'kill -TERM $c' TERM; setpriv --pdeathsig KILL "$0" "$@" & c=$!; wait $c; r=$?; [ $r -le 128 ] || { wait $c; r=$?; }; exit $r`,
			fmt.Sprintf("/proc/self/fd/%d", opened)}, os.Args[1:]...), os.Environ()))
	}
	must("exec", syscall.Exec(fmt.Sprintf("/proc/self/fd/%d", opened), append([]string{program}, os.Args[1:]...), os.Environ()))
}

// startAsTwo starts the program on folders of two users, without a sandbox
// if nothing else is said.
func startAsTwo(t *testing.T, extra ...string) *program {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	home, work, state := foldersOf(t, commandUser, runtimeUser)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := startAs(t, self, append([]string{
		twoUsersEnv + "=" + binary, fmt.Sprintf("CODEX_USER=%d:%[1]d", commandUser), "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never",
		"CODEX_HOME=" + home, "RUNTIME_WORKDIR=" + work, "RUNTIME_STATE_DIR=" + state, "HOME=" + work,
	}, extra...)...)
	p.Home, p.Work, p.State = home, work, state
	return p
}

// foldersOf makes folders for a user of codex's and one of the runtime's.
func foldersOf(t *testing.T, commands, runtimes int) (home, work, state string) {
	t.Helper()
	home, work, state = codextest.Dir(t, "home"), codextest.Dir(t, "work"), codextest.Dir(t, "state")
	for dir, owner := range map[string]int{home: commands, work: commands, state: runtimes} {
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	return home, work, state
}

// TestTwoUsers has codex's commands run without a sandbox as another user than the runtime:
// they own codex's home and the work directory, and get at nothing else of it.
func TestTwoUsers(t *testing.T) {
	p := startAsTwo(t)
	runtimePid := p.Pid()
	said := text(p.send("m1", "one", fmt.Sprintf(
		"run exec 2>/dev/null; id -u; id -G; grep ^Cap[IPEA] /proc/self/status; "+
			"for f in /proc/self/environ %s/state.db /proc/%d/environ /proc/%[2]d/maps /proc/%[2]d/mem /proc/%[2]d/task/*/environ; do (exec <$f) && echo ope''ned $f; done; "+
			"kill -0 $$ && echo sig''naled itself; kill -0 %[2]d && echo sig''naled; echo $((40+2)) done", p.State, runtimePid)))
	if !strings.Contains(said, fmt.Sprint(commandUser)) || !strings.Contains(said, "opened /proc/self/environ\n") || !strings.Contains(said, "signaled itself\n42 done") ||
		strings.Count(said, "opened") != 1 || strings.Count(said, "signaled") != 1 {
		t.Errorf("the command says: %s", said)
	}
	if strings.Count(said, "0000000000000000") != 4 {
		t.Errorf("the command has capabilities: %s", said)
	}

	p.call("SendMessage", object{"message": object{"messageId": "m2", "contextId": "two", "role": "ROLE_USER", "parts": []object{
		{"text": "run cat .molecule/chat-uploads/*brought.txt; echo more >> .molecule/chat-uploads/*brought.txt && printf answer > out.txt && chmod 600 out.txt"},
		{"raw": base64.StdEncoding.EncodeToString([]byte("what was brought")), "filename": "brought.txt"},
	}}})
	if brought, _ := filepath.Glob(filepath.Join(p.Work, ".molecule/chat-uploads/*brought.txt")); len(brought) != 1 || !strings.HasSuffix(contents(t, brought[0]), "more\n") {
		t.Errorf("the file of the message: %q", brought)
	}
	parts := replyParts(p.send("m3", "two", "say it is in `"+filepath.Join(p.Work, "out.txt")+"`"))
	if len(parts) != 2 {
		t.Errorf("the reply has the parts %v", parts)
	}
	if out, code := p.Command("doctor"); code != 0 || !strings.Contains(out, "who cannot read the runtime's state and tokens") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
}

// kernelSetting is one that root may write. It is opened and never written.
const kernelSetting = "/proc/sys/kernel/core_pattern"

// opensKernelSetting has a command in codex's sandbox open it for writing.
func opensKernelSetting(t *testing.T, p *program) bool {
	t.Helper()
	said := text(p.send("m1", "one", "run (exec 3>>"+kernelSetting+") && echo $((40+2)) opened; echo $((40+3)) looked"))
	if !strings.Contains(said, "43 looked") {
		t.Fatalf("the command says %s", said)
	}
	return strings.Contains(said, "42 opened")
}

// belowReadOnlySettings is a program that runs the one under test where /proc/sys is mounted
// read-only, as containers have it.
func belowReadOnlySettings(t *testing.T) string {
	t.Helper()
	const mounts = "mount --make-rprivate / && mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys"
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", mounts).CombinedOutput(); err != nil {
		t.Skipf("this takes root that may mount: %v %s", err, out)
	}
	script := filepath.Join(codextest.Dir(t, "outside"), "runtime")
	writeFile(t, script, "#!/bin/sh\nexec unshare --mount sh -c '"+mounts+" && exec \"$0\" \"$@\"' "+binary+" \"$@\"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	return script
}

// TestRootInTheSandbox: what codex's sandbox does not keep from root is said where it is so.
func TestRootInTheSandbox(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	f, err := os.OpenFile(kernelSetting, os.O_WRONLY, 0)
	open := err == nil
	if open {
		_ = f.Close()
	}
	const hole, fix = "as root commands can write the kernel's settings", "set CODEX_USER to another user"
	check := func(t *testing.T, program string, open bool) {
		t.Helper()
		p := startAs(t, program, "CODEX_APPROVAL_POLICY=never")
		if got := opensKernelSetting(t, p); got != open {
			t.Errorf("a command in the sandbox opens a setting of the kernel: %v, want %v", got, open)
		}
		if open {
			progtest.WaitFor(t, "the log to warn", func() bool { return strings.Contains(p.Log(), hole) })
		}
		out, code := p.Command("doctor", "--for", "serve")
		if code != 0 || strings.Contains(out, hole) != open || strings.Contains(out, fix) != open {
			t.Errorf("doctor: %d\n%s", code, out)
		}
	}
	t.Run("as-here", func(t *testing.T) { check(t, binary, open) })
	t.Run("read-only", func(t *testing.T) { check(t, belowReadOnlySettings(t), false) })
	t.Run("no-sandbox", func(t *testing.T) {
		p := start(t, "CODEX_SANDBOX=danger-full-access")
		if out, _ := p.Command("doctor", "--for", "serve"); strings.Contains(out, hole) {
			t.Errorf("doctor says:\n%s", out)
		}
	})
}

// TestTwoUsersInTheSandbox: commands of a user that is not root cannot write the kernel's
// settings.
func TestTwoUsersInTheSandbox(t *testing.T) {
	p := startAsTwo(t, "CODEX_SANDBOX=workspace-write", "HOME="+codextest.Dir(t, "user")) // not in the work directory
	if opensKernelSetting(t, p) {
		t.Error("a command opens a setting of the kernel for writing")
	}
	if out, code := p.Command("doctor"); code != 0 || strings.Contains(out, "kernel's settings") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTwoUsersEnd has commands and codex end as they do where all is one user's.
func TestTwoUsersEnd(t *testing.T) {
	p := startAsTwo(t)
	p.send("m0", "one", "remember green-7")
	id := p.begin("m1", "one", "run setsid sleep 73.5 & sleep 74.5")["id"]
	codex := p.Child()
	var stray, command int
	progtest.WaitFor(t, "the commands to run", func() bool {
		stray, command = progtest.Find(codex, "sleep 73.5"), progtest.Find(codex, "sleep 74.5")
		return stray != 0 && command != 0
	})
	task, _ := p.call("CancelTask", object{"id": id})["result"].(object)
	if state(task) != "TASK_STATE_CANCELED" || progtest.Alive(stray) || progtest.Alive(command) {
		t.Errorf("after the cancel: %s, stray %v, command %v", state(task), progtest.Alive(stray), progtest.Alive(command))
	}
	p.Kill()
	progtest.WaitFor(t, "codex to end with the runtime", func() bool { return !progtest.Alive(codex) })
	p.Program = p.Restart()
	if got := text(p.send("m2", "one", "recall")); !strings.Contains(got, "green-7") {
		t.Errorf("after the restart the thread recalls %q", got)
	}
	killChild(t, p)
	if got := text(p.send("m3", "one", "recall")); !strings.Contains(got, "green-7") {
		t.Errorf("after codex was killed the thread recalls %q", got)
	}
	codex = p.Child()
	p.Stop()
	if progtest.Alive(codex) {
		t.Error("codex runs on when the runtime has stopped")
	}
}
