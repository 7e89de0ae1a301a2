package asuser_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

const (
	ourselves = 4243 // where these tests are not root
	another   = "4242:4242"
	part      = "ASUSER_TEST_PART"
)

func TestMain(m *testing.M) {
	if os.Getenv(part) == "mother" {
		mother()
		return
	}
	leaktest.Main(m)
}

// eachWay runs a test as root, and as a user with the two capabilities that it takes, in
// a process of its own.
func eachWay(t *testing.T, test func(t *testing.T, other *asuser.User)) {
	t.Helper()
	if os.Getuid() != 0 && os.Getenv(part) == "" {
		t.Skip("this takes root")
	}
	if os.Getenv(part) == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
		temp := open(t)
		if err := os.Chmod(temp, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), part+"=inner", "TMPDIR="+temp)
		cmd.SysProcAttr = unprivileged()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as a user with capabilities: %v\n%s", err, out)
		}
	}
	other, err := asuser.Lookup(another)
	if err != nil {
		t.Fatal(err)
	}
	test(t, other)
}

func unprivileged() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Credential:  &syscall.Credential{Uid: ourselves, Gid: ourselves},
		AmbientCaps: []uintptr{unix.CAP_SETUID, unix.CAP_SETGID},
	}
}

// open makes a folder that all may write into. That of the process of its own lies in the one
// that it was given: root takes away what another user has made there.
func open(t *testing.T) string {
	t.Helper()
	temp := "/tmp"
	if os.Getenv(part) != "" {
		temp = os.TempDir()
	}
	dir, err := os.MkdirTemp(temp, "asuser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFiles are opened and made as the other user: what is ours alone cannot be read.
func TestFiles(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		dir := open(t)
		secret := filepath.Join(dir, "secret")
		if err := os.WriteFile(secret, []byte("ours"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := asuser.Value(other, func() ([]byte, error) { return os.ReadFile(secret) }); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("the other user reads what is ours: %v", err)
		}
		theirs := filepath.Join(dir, "theirs")
		if err := other.Do(func() error { return os.WriteFile(theirs, []byte("theirs"), 0o600) }); err != nil {
			t.Fatal(err)
		}
		if stat := statOf(t, theirs); stat.Uid != other.UID || stat.Gid != other.GID {
			t.Errorf("the file belongs to %d:%d", stat.Uid, stat.Gid)
		}
		if _, err := os.ReadFile(secret); err != nil {
			t.Errorf("afterwards we cannot read what is ours: %v", err)
		}
	})
}

// TestRegain gives a folder back to its owner, and leaves those of others as they are.
func TestRegain(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		var nobody *asuser.User // stands for ourselves
		for _, c := range []struct {
			name        string
			owner, user *asuser.User
			mode, want  os.FileMode
			log         string
		}{
			{"ours, closed", nobody, nobody, 0, 0o700, "d---------"},
			{"ours, not to be written", nobody, nobody, os.ModeSetgid | os.ModeSticky | 0o575, os.ModeSetgid | os.ModeSticky | 0o775, "d"},
			{"ours, open", nobody, nobody, 0o750, 0o750, ""},
			{"theirs, closed", other, other, 0o011, 0o711, "d-----x--x"},
			{"theirs, for us", other, nobody, 0, 0, ""},
			{"ours, for them", nobody, other, 0, 0, ""},
		} {
			dir := filepath.Join(open(t), "work")
			err := c.owner.Do(func() error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, c.mode)) })
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			c.user.Regain(dir, slog.New(slog.NewTextHandler(&log, nil)))
			if info, err := os.Stat(dir); err != nil || info.Mode() != c.want|os.ModeDir {
				t.Errorf("%s: %v, %v", c.name, info.Mode(), err)
			}
			if !strings.Contains(log.String(), c.log) || (log.Len() > 0) != (c.log != "") {
				t.Errorf("%s: the log says %q", c.name, log.String())
			}
		}
		file := filepath.Join(open(t), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		nobody.Regain(file, slog.Default())
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("a file: %v, %v", info.Mode(), err)
		}
	})
}

// TestRegainOfWhatIsMade: a default ACL closes what is made in a folder whose own mode is as it was.
func TestRegainOfWhatIsMade(t *testing.T) {
	acl := func(owner byte) []byte {
		return []byte{2, 0, 0, 0, 1, 0, owner, 0, 255, 255, 255, 255, 4, 0, 0, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	}
	eachWay(t, func(t *testing.T, other *asuser.User) {
		for _, c := range []struct {
			user   *asuser.User
			owner  byte
			closed bool
		}{{nil, 0, true}, {other, 5, true}, {other, 7, false}} {
			dir := filepath.Join(open(t), "work")
			err := c.user.Do(func() error {
				return errors.Join(os.Mkdir(dir, 0o700), unix.Setxattr(dir, "system.posix_acl_default", acl(c.owner), 0))
			})
			if errors.Is(err, unix.ENOTSUP) {
				t.Skip("the file system of /tmp keeps no ACLs")
			}
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			c.user.Regain(dir, slog.New(slog.NewTextHandler(&log, nil)))
			if err := c.user.Do(func() error { return os.Mkdir(filepath.Join(dir, "made"), 0o755) }); err != nil {
				t.Fatal(err)
			}
			info, err := asuser.Value(c.user, func() (fs.FileInfo, error) { return os.Stat(filepath.Join(dir, "made")) })
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode()&0o700 != 0o700 {
				t.Errorf("by %v, %d: what is made has %v", c.user, c.owner, info.Mode())
			}
			if (log.Len() > 0) != c.closed {
				t.Errorf("by %v, %d: the log says %q", c.user, c.owner, log.String())
			}
		}
	})
}

func statOf(t *testing.T, path string) *syscall.Stat_t {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return &stat
}

// TestChild has nothing of ours: no user, no group, no capability.
func TestChild(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		cmd := exec.Command("cat", "/proc/self/status")
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := errors.Join(other.Start(cmd), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Uid:\t4242\t4242\t4242\t4242", "Gid:\t4242\t4242\t4242\t4242", "Groups:\t \n",
			"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the child has no line %q:\n%s", want, out.String())
			}
		}
	})
}

// TestProcesses of the other user can be looked into and ended, which takes no capability.
func TestProcesses(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		cmd := exec.Command("sleep", "infinity")
		cmd.Env = []string{"MARK=of a command"}
		if err := other.Start(cmd); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var environ []byte
		var err error
		for len(environ) == 0 && err == nil { // it has none yet at the very beginning
			environ, err = asuser.Value(other, func() ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid)) })
		}
		if err != nil || !bytes.Contains(environ, []byte("MARK=of a command")) {
			t.Errorf("its environment: %q, %v", environ, err)
		}
		if err := other.Do(func() error { return syscall.Kill(cmd.Process.Pid, syscall.SIGKILL) }); err != nil {
			t.Error(err)
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		}
		<-ended
	})
}

// TestThread keeps our real user: a process of the other one can neither signal it nor look
// into it while it acts. The thread ends with what it was for.
func TestThread(t *testing.T) {
	eachWay(t, func(t *testing.T, other *asuser.User) {
		var thread int
		err := other.Do(func() error {
			thread = unix.Gettid()
			cmd := exec.Command("sh", "-c", fmt.Sprintf("kill -0 %d 2>/dev/null && echo signal; cat /proc/%[1]d/environ /proc/%[1]d/mem >/dev/null 2>&1 && echo environ; true", thread))
			var out bytes.Buffer
			cmd.Stdout = &out
			err := errors.Join(other.Start(cmd), cmd.Wait()) // on a thread of its own
			if out.Len() > 0 {
				t.Errorf("the other user may: %s", out.String())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", thread))
			if err != nil || strings.Contains(string(status), fmt.Sprintf("Uid:\t%[1]d\t%[1]d\t", os.Getuid())) {
				return // it has ended, and perhaps its number is that of another one by now
			}
			runtime.Gosched()
		}
	})
}

// TestDeath ends the child when this process is killed, which may not signal it otherwise.
func TestDeath(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	for way, attr := range map[string]*syscall.SysProcAttr{"root": {}, "capabilities": unprivileged()} {
		t.Run(way, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env, cmd.SysProcAttr = append(os.Environ(), part+"=mother"), attr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "started" {
				t.Fatalf("the child: %q", lines.Text())
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() { // the child holds the pipe for as long as it lives
			}
			_ = cmd.Wait() // it was killed
		})
	}
}

// mother starts a child as the runtime starts codex, and waits to be killed.
func mother() {
	other, err := asuser.Lookup(another)
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() {
		runtime.LockOSThread()
		cmd := exec.Command("sh", "-c", "echo started; exec sleep infinity")
		cmd.Stdout = os.Stdout
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
		if err := other.StartHere(cmd); err != nil {
			fmt.Println(err)
		}
		_ = cmd.Wait()
	}()
	select {}
}

// TestLookup finds users by name and number, and none where it would be ourselves.
func TestLookup(t *testing.T) {
	for _, own := range []string{fmt.Sprint(os.Getuid()), fmt.Sprintf("%d:1", os.Getuid())} {
		if u, err := asuser.Lookup(own); u != nil || err != nil {
			t.Errorf("%s: %v, %v", own, u, err)
		}
	}
	for _, wrong := range []string{"there is no such user", "4242424", "4242:staff-of-none", "-1:-1", ":", ""} {
		if u, err := asuser.Lookup(wrong); err == nil {
			t.Errorf("%q: %+v", wrong, u)
		}
	}
	if os.Getuid() != 0 {
		if _, err := asuser.Lookup("root"); err == nil {
			t.Error("root is no other user")
		}
	}
	var nobody *asuser.User
	if err := nobody.Do(func() error { return fs.ErrExist }); !errors.Is(err, fs.ErrExist) {
		t.Errorf("ourselves: %v", err)
	}
}

func BenchmarkStart(b *testing.B) {
	other, err := asuser.Lookup(another)
	if err != nil {
		b.Fatal(err)
	}
	for name, user := range map[string]*asuser.User{"ourselves": nil, "another": other} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				if err := errors.Join(user.Start(cmd), cmd.Wait()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
