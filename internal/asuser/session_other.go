//go:build unix && !linux

package asuser

import "syscall"

// SessionOfItsOwn is for a child that has no terminal of ours.
func SessionOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
