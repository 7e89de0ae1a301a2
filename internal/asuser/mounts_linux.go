package asuser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// mountinfo is where the kernel tells a process its mounts.
const mountinfo = "/proc/self/mountinfo"

// OwnMounts reports whether what is started through argv as the user is to have mounts of its
// own, by [SessionOfItsOwn]: what is mounted later arrives neither there nor in the namespaces
// that it makes. Codex's sandbox makes read-only what is mounted when a command begins, and
// what arrives after that is as it was mounted. It is false where nothing arrives in any
// case, as in containers, and behind a fence that sees to it. What it takes of the kernel is
// not everywhere, so it is tried, and an error says why mounts arrive.
func (u *User) OwnMounts(ctx context.Context, argv []string) (bool, error) {
	if !mountsArrive() {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fenceLimit)
	defer cancel()
	err := u.cutOff(ctx, true, argv)
	switch {
	case err == nil:
		return true, nil
	case len(argv) > 0 && u.cutOff(ctx, false, argv) == nil:
		return false, nil
	default:
		return false, fmt.Errorf("mounts of its own: %w", err)
	}
}

// cutOff looks whether mounts arrive in what is started so.
func (u *User) cutOff(ctx context.Context, ownMounts bool, argv []string) error {
	cat, err := system("cat")
	if err != nil {
		return err
	}
	argv = slices.Concat(argv, []string{cat, mountinfo})
	var mounts bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return u.Do(cmd.Process.Kill) }
	cmd.Env, cmd.Stdout = []string{}, &mounts
	cmd.WaitDelay = time.Second // others of the user's processes can keep its output open
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: namespaces(ownMounts)}
	if err = u.Start(cmd); err == nil {
		err = cmd.Wait()
	}
	if err == nil && shared(mounts.String()) {
		err = errors.New("the system shares its mounts with every process")
	}
	return err
}

// mountsArrive reports whether what is mounted elsewhere arrives here, or goes on from here
// to the namespaces below.
func mountsArrive() bool {
	mounts, _ := os.ReadFile(mountinfo) // without /proc codex's sandbox does not start
	return shared(string(mounts))
}

// shared looks among the optional fields of mounts, which stand before a dash.
func shared(mounts string) bool {
	for line := range strings.Lines(mounts) {
		fields, _, _ := strings.Cut(line, " - ")
		if strings.Contains(fields, " shared:") || strings.Contains(fields, " master:") {
			return true // no path has a space in it there
		}
	}
	return false
}

// namespaces are the flags for mounts of a child's own. With them, os/exec also cuts these
// off from all others.
func namespaces(ownMounts bool) uintptr {
	if ownMounts {
		return syscall.CLONE_NEWNS
	}
	return 0
}
