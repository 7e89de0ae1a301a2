package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// The users of the runtime and of codex's commands, whom no file of the machine knows.
const (
	runtimeUser = 4243
	commandUser = 4242
	twoUsersEnv = "E2E_AS_RUNTIME_USER"
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
	const may = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	caps := [2]unix.CapUserData{{Effective: may, Permitted: may, Inheritable: may}}
	call("capset", unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&caps[0])), 0)
	for _, right := range []uintptr{unix.CAP_SETUID, unix.CAP_SETGID} {
		must("an ambient capability", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, right, 0, 0))
	}
	must("exec", syscall.Exec(fmt.Sprintf("/proc/self/fd/%d", opened), append([]string{program}, os.Args[1:]...), os.Environ()))
}

// startAsTwo starts the program on folders of two users, without a sandbox.
func startAsTwo(t *testing.T, extra ...string) *program {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	home, work, state := codextest.Dir(t, "home"), codextest.Dir(t, "work"), codextest.Dir(t, "state")
	for dir, owner := range map[string]int{home: commandUser, work: commandUser, state: runtimeUser} {
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	for _, above := range []string{filepath.Dir(home), filepath.Dir(filepath.Dir(home))} {
		if err := os.Chmod(above, 0o711); err != nil { // others get at folders of theirs in it
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := startAs(t, self, append(extra, twoUsersEnv+"="+binary, fmt.Sprintf("CODEX_USER=%d:%[1]d", commandUser), "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never",
		"CODEX_HOME="+home, "RUNTIME_WORKDIR="+work, "RUNTIME_STATE_DIR="+state, "HOME="+work)...)
	p.Home, p.Work, p.State = home, work, state
	return p
}

// TestTwoUsers has codex's commands run without a sandbox as another user than the runtime:
// they own codex's home and the work directory, and get at nothing else of it.
func TestTwoUsers(t *testing.T) {
	p := startAsTwo(t)
	runtimePid := p.Pid()
	said := text(p.send("m1", "one", fmt.Sprintf(
		"run id -u; id -G; grep ^Cap[IPEA] /proc/self/status; cat %s/state.db /proc/%d/environ /proc/%[2]d/mem /proc/%[2]d/task/*/environ && echo stolen; kill -0 %[2]d && echo signaled; echo $((40+2)) done", p.State, runtimePid)))
	if !strings.Contains(said, fmt.Sprint(commandUser)) || !strings.Contains(said, "42 done") || strings.Contains(said, "stolen\\n") || strings.Contains(said, "signaled\\n") {
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
