package fence

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"peek": peek}) }

// peek is run by a copy of the test binary, as an ordinary user: a process with a
// secret in its environment has another one of the same user look for it.
func peek() {
	if os.Getenv("PEEK_PRIVATE") == "1" {
		if err := KeepPrivate(); err != nil {
			fmt.Println(err)
			return
		}
	}
	look := exec.Command("sh", "-c", fmt.Sprintf("cat /proc/%d/environ; echo; echo own: $PEEK_SECRET; cat /proc/self/environ", os.Getpid()))
	look.Env = []string{"PATH=" + os.Getenv("PATH"), "PEEK_CHILD=readable"}
	out, _ := look.CombinedOutput() // cat fails where it must not read
	fmt.Printf("%s\n", out)
}

func TestEnvironmentIsPrivate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to look into")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "peek") // not t.TempDir, into which other users cannot look
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "peek")
	if err := copyFile(self, binary); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for private, want := range map[string]bool{"0": true, "1": false} {
		cmd := exec.Command(binary)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "PEEK_PRIVATE=" + private, "PEEK_SECRET=planted"}
		if os.Getuid() == 0 { // root reads everything
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PEEK_CHILD=readable") {
			t.Fatalf("%v: %s", err, out)
		}
		if seen := strings.Contains(string(out), "planted"); seen != want {
			t.Errorf("private %s: the secret was seen: %v\n%s", private, seen, out)
		}
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
