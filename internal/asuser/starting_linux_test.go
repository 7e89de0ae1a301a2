package asuser_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestStartFails as it would without another user, and leaves no process.
func TestStartFails(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		dir := open(t)
		closed := filepath.Join(dir, "closed")
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "plain"), []byte("no program"), 0o644), os.Mkdir(closed, 0o700)); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			cmd  *exec.Cmd
			want error
			says string
		}{
			"no program":     {exec.Command("/no/such/program"), fs.ErrNotExist, "exec /no/such/program: "},
			"no name":        {exec.Command("no-such-program"), exec.ErrNotFound, "no-such-program"},
			"not executable": {exec.Command(filepath.Join(dir, "plain")), fs.ErrPermission, "exec " + dir + "/plain: "},
			"closed folder":  {&exec.Cmd{Path: "/bin/true", Dir: closed}, fs.ErrPermission, "chdir " + closed + ": "},
			"no folder":      {&exec.Cmd{Path: "/bin/true", Dir: filepath.Join(dir, "none")}, fs.ErrNotExist, "chdir " + dir + "/none: "},
		} {
			err := other.Start(c.cmd)
			if !errors.Is(err, c.want) || err == nil || !strings.Contains(err.Error(), c.says) || c.cmd.Process != nil {
				t.Errorf("%s: %v, process %v", name, err, c.cmd.Process)
			}
		}
	})
}

// TestChildIsOursWhileItSharesOurMemory: who can stop it then stops all of us.
func TestChildIsOursWhileItSharesOurMemory(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		cmd := exec.Command("true")
		if err := errors.Join(other.Start(cmd), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		if as := cmd.SysProcAttr.Credential; as == nil || as.Uid != uint32(os.Getuid()) || as.Gid != uint32(os.Getgid()) {
			t.Errorf("until it executes a program it is %+v", as)
		}
	})
}

// TestChildIsAtNoTerminal of ours: others of the user's processes could make it type there.
func TestChildIsAtNoTerminal(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		cmd := exec.Command("cat", "/proc/self/stat")
		var stat bytes.Buffer
		cmd.Stdout = &stat
		if err := errors.Join(other.Start(cmd), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		if fields := strings.Fields(stat.String()); len(fields) < 6 || fields[5] != fields[0] {
			t.Errorf("its session is not its own: %s", stat.String())
		}
	})
}

// TestStarterThatEnds before it has begun is no start, and one that is called by hand
// does not become root.
func TestStarterThatEnds(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		cmd := exec.Command("true")
		cmd.Env = []string{"GOMEMLIMIT=nonsense"} // with which no Go program begins
		if err := other.Start(cmd); err == nil || !strings.Contains(err.Error(), "it ended before it began") || cmd.Process != nil {
			t.Errorf("%v, process %v", err, cmd.Process)
		}
		byHand := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"start-as-user", `{"User":{"UID":0},"Path":"/bin/true","Report":1}`, "true"}}
		if said, err := byHand.Output(); err == nil || !strings.Contains(string(said), `"Op":"become","Path":"root"`) {
			t.Errorf("by hand: %s, %v", said, err)
		}
	})
}

// TestProgramWithCapabilities is no way to another user: it would be one for all who may run it.
func TestProgramWithCapabilities(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(open(t), "program")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	byHand := func() string {
		cmd := &exec.Cmd{Path: program, Args: []string{"start-as-user", `{"User":{"Name":"one","UID":4242,"GID":4242},"Path":"/bin/true","Report":1}`, "true"}}
		said, _ := cmd.Output()
		return string(said)
	}
	if got := byHand(); got != "ready\n" {
		t.Fatalf("root becomes another: %s", got)
	}
	both := uint32(1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID)
	capabilities := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x02000001), both) // version 2, in force
	capabilities = append(capabilities, make([]byte, 12)...)
	if err := unix.Setxattr(program, "security.capability", capabilities, 0); err != nil {
		t.Skipf("files have no capabilities here: %v", err)
	}
	if got := byHand(); !strings.HasPrefix(got, `{"Op":"become"`) {
		t.Errorf("by capabilities of the file: %s", got)
	}
}

// TestFolderOfAChild is entered by the user, by whatever way leads to it.
func TestFolderOfAChild(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		dir := open(t)
		cmd := exec.Command("sh", "-c", `pwd; echo "$0 $WORD"; cat; cat <&3`, "name")
		cmd.Dir, cmd.Env, cmd.Stdin = dir, []string{"WORD=said", "PATH=" + os.Getenv("PATH")}, strings.NewReader("in ")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{r}
		if _, err := w.WriteString("extra"); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := errors.Join(other.Start(cmd), r.Close(), w.Close(), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		if want := dir + "\nname said\nin extra"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}
