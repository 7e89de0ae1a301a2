//go:build !linux

package asuser

import (
	"errors"
	"os/exec"
)

// Elsewhere a thread has no user of its own.
func (u *User) become(bool) error {
	return errors.New("this takes Linux")
}

func (u *User) start(*exec.Cmd) error { return u.become(true) }
