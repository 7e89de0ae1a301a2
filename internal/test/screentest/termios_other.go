//go:build !linux

package screentest

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA
