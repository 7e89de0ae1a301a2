package asuser

import (
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// defaultACL is where Linux keeps the ACL that what is made in a folder gets.
const defaultACL = "system.posix_acl_default"

// closesWhatIsMade reports whether a folder's default ACL keeps from the owner of what is made in it
// to read, write and enter that. One that cannot be read is none.
func closesWhatIsMade(dir *os.File) bool {
	size, err := unix.Fgetxattr(int(dir.Fd()), defaultACL, nil)
	if err != nil { // mostly because there is none
		return false
	}
	acl := make([]byte, size)
	n, err := unix.Fgetxattr(int(dir.Fd()), defaultACL, acl)
	if err != nil {
		return false
	}
	const (
		head  = 4 // the version
		each  = 8 // tag, permissions, id
		owner = 1 // the owner's tag, ACL_USER_OBJ
		all   = 7
	)
	for at := head; at+each <= n; at += each {
		if binary.LittleEndian.Uint16(acl[at:]) == owner {
			return binary.LittleEndian.Uint16(acl[at+2:]) != all
		}
	}
	return false
}

// mayHaveDefaultACL reports whether a folder has a default ACL, or that cannot be known by its path.
func mayHaveDefaultACL(path string) bool {
	_, err := unix.Getxattr(path, defaultACL, nil)
	return !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.EOPNOTSUPP)
}

func takeDefaultACL(dir *os.File) error { return unix.Fremovexattr(int(dir.Fd()), defaultACL) }
