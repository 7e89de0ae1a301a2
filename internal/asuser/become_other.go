//go:build !linux

package asuser

import (
	"context"
	"errors"
	"os/exec"
)

const through = 0

// Elsewhere a thread has no user of its own.
func (u *User) become(uint32) error {
	return errors.New("this takes Linux")
}

func (u *User) start(*exec.Cmd) error { return u.become(0) }

func takes(*exec.Cmd) uint32 { return 0 }

func lendsItself() bool { return false }

// Fence is not needed where there is no /proc.
func Fence(context.Context, func() bool) ([]string, error) { return nil, nil }

// OwnMounts are not needed where codex's sandbox makes no mounts.
func (u *User) OwnMounts(context.Context, []string) (bool, error) { return false, nil }
