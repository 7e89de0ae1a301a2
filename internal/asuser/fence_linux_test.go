package asuser_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestFence: what is started through a fence runs as who it is, and looks into no process of
// its user's: as root, as root in a container, and as a user without capabilities.
func TestFence(t *testing.T) {
	if os.Getuid() == 0 && os.Getenv(part) == "" {
		inner := func(name string, cmd *exec.Cmd) {
			cmd.Env = append(os.Environ(), part+"=inner", "TMPDIR="+open(t))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("as %s: %v\n%s", name, err, out)
			}
		}
		self := []string{"/proc/self/exe", "-test.run", "^TestFence$", "-test.v"}
		as := exec.Command(self[0], self[1:]...)
		as.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ourselves, Gid: ourselves}}
		inner("a user", as)
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		self[0] = exe
		inner("root in a container", exec.Command("setpriv", append([]string{"--bounding-set=-sys_ptrace,-sys_admin,-perfmon", "--"}, self...)...))
	}
	fence, err := asuser.Fence(t.Context(), func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	beside := exec.Command("sleep", "infinity")
	beside.Env = []string{"MARK=of the process beside it"}
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = beside.Process.Kill()
		_ = beside.Wait()
	}()
	look := fmt.Sprintf("id -u; id -g; cat /proc/%d/environ; echo looked", beside.Process.Pid)
	for name, through := range map[string][]string{"without a fence": nil, "through a fence": fence} {
		argv := append(append([]string{}, through...), "sh", "-c", look)
		out, _ := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		said := string(out)
		if !strings.HasPrefix(said, fmt.Sprintf("%d\n%d\n", os.Getuid(), os.Getgid())) || !strings.HasSuffix(said, "looked\n") {
			t.Errorf("%s: %s", name, said)
		}
		if strings.Contains(said, "MARK=") != (through == nil) {
			t.Errorf("%s the environment of the process is read: %v", name, strings.Contains(said, "MARK="))
		}
	}
}
