package machine

import "golang.org/x/sys/unix"

// look finds out how loaded the machine is.
func look(root string) (f facts) {
	var sys unix.Sysinfo_t
	if unix.Sysinfo(&sys) == nil {
		f.load = float64(sys.Loads[0]) / (1 << 16)
		f.memory = int64(sys.Totalram) * int64(sys.Unit)
	}
	var disk unix.Statfs_t
	if unix.Statfs(root, &disk) == nil {
		f.freeDisk, f.disk = int64(disk.Bavail)*disk.Bsize, true
		f.readOnly = disk.Flags&unix.ST_RDONLY != 0
	}
	return f
}
