package chaos

import "syscall"

// diskSize is more than the store keeps in reserve for running turns, 16 MiB.
const diskSize = "size=64m"

// mount lays a small file system over a directory.
func mount(dir string) (unmount func() error, err error) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, diskSize); err != nil {
		return nil, err
	}
	return func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}
