package regular_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// TestTerminalInTheFilesPlace does not become that of a process that leads a session without
// one, as a service does.
func TestTerminalInTheFilesPlace(t *testing.T) {
	const part = "REGULAR_TEST_TERMINAL"
	if path := os.Getenv(part); path != "" {
		text, err := regular.Read(path, 10)
		stat, _ := os.ReadFile("/proc/self/stat")
		_, after, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(after); err == nil || len(fields) < 5 || fields[4] != "0" {
			t.Errorf("it reads %q, %v, and its terminal is in %q", text, err, stat)
		}
		return
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=/dev/pts/%d", part, number))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
