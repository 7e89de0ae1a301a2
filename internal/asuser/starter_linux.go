package asuser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Until a child that Go starts executes another program, it shares our memory, and one of our
// threads stands still. A child that is the other user by then can be stopped by that one, and
// all of us with it: the next collection of garbage waits for that thread. So the child stays
// ours, and executes this program once more, as a starter: a process of its own that becomes
// the user and executes what was asked for.

// starterName is the name by which a starter is called.
const starterName = "start-as-user"

// ready is what a starter says when nothing is left to do but to execute the program.
const ready = "ready\n"

// startLimit is how long a starter has, which takes some milliseconds. Once it is the other
// user's, others can stop it as well.
const startLimit = 10 * time.Second

// An order is what a starter is told, beside the arguments of what it is to execute.
type order struct {
	User   User
	Dir    string // empty for ours
	Path   string
	Death  syscall.Signal // that it gets when the thread dies that has started it; 0 for none
	Parent int
	Report int // the file in which it says why it cannot be; closed where it can
}

// A failure is a report: an error of the operating system.
type failure struct {
	Op, Path string
	Errno    syscall.Errno
}

// start starts a command whose process becomes the user for good. The calling thread has
// become the user.
func (u *User) start(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Start() // which says so, and closes what is open
	}
	report, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	err = errors.Join(u.startStarter(cmd, theirs), theirs.Close())
	if err == nil {
		err = u.awaitStart(report)
		if err != nil {
			giveUp(cmd)
		}
	}
	return errors.Join(err, report.Close())
}

// startStarter makes a starter of a command, and starts it as ourselves.
func (u *User) startStarter(cmd *exec.Cmd, report *os.File) error {
	const stdio = 3
	o := order{User: *u, Dir: cmd.Dir, Path: cmd.Path, Parent: os.Getpid(), Report: stdio + len(cmd.ExtraFiles)}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true // others of the user's could type into our terminal by it
	o.Death = cmd.SysProcAttr.Pdeathsig
	told, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if len(cmd.Args) == 0 {
		cmd.Args = []string{cmd.Path}
	}
	cmd.Path, cmd.Dir = "/proc/self/exe", ""
	cmd.Args = append([]string{starterName, string(told)}, cmd.Args...)
	cmd.ExtraFiles = append(cmd.ExtraFiles, report)
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
	if uid != 0 {
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SETUID, unix.CAP_SETGID}
	}
	return cmd.Start()
}

// awaitStart reads what the starter says.
func (u *User) awaitStart(report *os.File) error {
	if err := report.SetReadDeadline(time.Now().Add(startLimit)); err != nil {
		return err
	}
	said, err := io.ReadAll(report)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it did not begin within %s: another process of %v may have stopped it", startLimit, u)
	}
	if err != nil {
		return err
	}
	said, begun := bytes.CutPrefix(said, []byte(ready))
	if begun && len(said) == 0 {
		return nil
	}
	var f failure
	if json.Unmarshal(said, &f) != nil {
		return errors.New("it ended before it began: the machine may have no room for another process")
	}
	return &os.PathError{Op: f.Op, Path: f.Path, Err: f.Errno}
}

// giveUp leaves a command as one that could not be started.
func giveUp(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
	cmd.WaitDelay = time.Second
	_ = cmd.Wait()
	cmd.Process = nil
}

// runStarter does what a starter is for, if this process is one. It does not return then.
func runStarter() {
	if len(os.Args) == 0 || os.Args[0] != starterName {
		return
	}
	var o order
	if len(os.Args) < 3 || json.Unmarshal([]byte(os.Args[1]), &o) != nil {
		os.Exit(1) // it was started by hand
	}
	syscall.CloseOnExec(o.Report)
	report := os.NewFile(uintptr(o.Report), "report")
	f := o.carryOut(os.Args[2:], report)
	said, _ := json.Marshal(f) // texts and a number
	_, _ = report.Write(said)
	os.Exit(1)
}

// carryOut executes the program, and returns what it failed at.
func (o *order) carryOut(argv []string, report *os.File) failure {
	if o.User.UID == 0 { // it may have been started by any other program
		return failure{"become", "root", syscall.EPERM}
	}
	if lendsItself() {
		return failure{"become", o.User.String(), syscall.EPERM}
	}
	if err := o.User.becomeForGood(); err != nil {
		return failure{"become", o.User.String(), errno(err)}
	}
	// The change of user has cleared the signal, and our parent may have died before.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(o.Death), 0, 0, 0); err != nil {
		return failure{"prctl", o.Path, errno(err)}
	}
	if o.Death != 0 && os.Getppid() != o.Parent {
		os.Exit(1)
	}
	if o.Dir != "" {
		if err := syscall.Chdir(o.Dir); err != nil {
			return failure{"chdir", o.Dir, errno(err)}
		}
	}
	_, _ = report.WriteString(ready)
	return failure{"exec", o.Path, errno(syscall.Exec(o.Path, argv, os.Environ()))} //nolint:forbidigo,gosec // both are what our parent has given
}

// lendsItself reports whether the file of this program has capabilities. Every user of the machine
// who may run it has them then, and could start anything as any other user.
func lendsItself() bool {
	_, err := unix.Getxattr("/proc/self/exe", "security.capability", nil)
	return err == nil
}

func errno(err error) (n syscall.Errno) {
	if !errors.As(err, &n) {
		n = syscall.EINVAL
	}
	return n
}
