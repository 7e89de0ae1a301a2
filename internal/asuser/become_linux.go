package asuser

import (
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The main thread does not end before the process: one that has become another user would
// stay. So it is kept for the program's main function.
func init() { //nolint:gochecknoinits // later the main function may be on another thread
	runtime.LockOSThread()
	runStarter()
}

// through opens folders that may be entered and not read, too.
const through = unix.O_PATH

const unchanged = ^uintptr(0)

// become makes the calling thread act as the user. Of its capabilities it keeps those that
// are named: the others of root would open all files to it. A process that it starts gets
// none from it in any case. The calls are those of the kernel, for this thread: the library's
// would change all threads.
func (u *User) become(keeps uint32) error {
	if err := u.setIDs(unchanged, unchanged); err != nil {
		return err
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3} // of this thread
	var has [2]unix.CapUserData
	if err := unix.Capget(&head, &has[0]); err != nil {
		return err
	}
	for i := range has {
		has[i].Effective, has[i].Inheritable = 0, 0 // without the latter none is ambient
	}
	has[0].Effective = has[0].Permitted & keeps
	return unix.Capset(&head, &has[0])
}

// becomeForGood makes the calling thread the user's, with no way back and no capability.
func (u *User) becomeForGood() error {
	if err := u.setIDs(uintptr(u.UID), uintptr(u.GID)); err != nil {
		return err
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&head, &none[0])
}

// setIDs makes the effective ids of the calling thread the user's, and its real and saved
// ones those that are given.
func (u *User) setIDs(uid, gid uintptr) error {
	groups := append([]uint32{}, u.Groups...)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); errno != 0 { //nolint:gosec // the kernel reads a list of numbers
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, uintptr(u.GID), gid); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uintptr(u.UID), uid); errno != 0 {
		return errno
	}
	return nil
}

// takes are the capabilities that a thread keeps to start a command.
func takes(cmd *exec.Cmd) uint32 {
	caps := uint32(1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID)
	if attr := cmd.SysProcAttr; attr != nil && attr.Unshareflags != 0 {
		caps |= 1 << unix.CAP_SYS_ADMIN
	}
	return caps
}
