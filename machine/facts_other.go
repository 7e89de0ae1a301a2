//go:build !linux

package machine

import "golang.org/x/sys/unix"

// look finds out how loaded the machine is, as far as that is known here.
func look(root string) (f facts) {
	var disk unix.Statfs_t
	if unix.Statfs(root, &disk) == nil {
		f.freeDisk, f.disk = int64(disk.Bavail)*int64(disk.Bsize), true
	}
	return f
}
