package asuser

import "syscall"

// SessionOfItsOwn is for a child that has no terminal of ours, and that the kernel kills when
// the thread that started it dies, which is when we are killed: see [User.StartHere].
// It can have mounts of its own: see [User.OwnMounts].
func SessionOfItsOwn(ownMounts bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Unshareflags: namespaces(ownMounts)}
}
