package store

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkKind(t *testing.T) {
	for magic, want := range map[uint32]string{
		unix.NFS_SUPER_MAGIC: "nfs", unix.CIFS_SUPER_MAGIC: "smb", unix.FUSE_SUPER_MAGIC: "fuse", unix.V9FS_MAGIC: "9p",
		unix.EXT4_SUPER_MAGIC: "", unix.OVERLAYFS_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.XFS_SUPER_MAGIC: "",
	} {
		equal(t, networkKind(magic), want)
	}
}
