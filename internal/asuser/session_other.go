//go:build unix && !linux

package asuser

import "syscall"

// SessionOfItsOwn is for a child that has no terminal of ours. Mounts of its own take Linux.
func SessionOfItsOwn(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
