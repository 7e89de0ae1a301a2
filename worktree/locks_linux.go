package worktree

import (
	"os"
	"path/filepath"
)

// isOpen reports whether a process that can be looked into has a file open.
func isOpen(path string) bool {
	all, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return false
	}
	for _, fd := range all {
		if target, err := os.Readlink(fd); err == nil && target == path {
			return true
		}
	}
	return false
}
