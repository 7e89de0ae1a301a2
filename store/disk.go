package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// room returns [ErrFull] when the disk has less left than is reserved for the
// work that has been accepted, and [ErrReplaced] when it would not be found again.
func (s *Store) room() error {
	if err := s.Replaced(); err != nil {
		return err
	}
	var fs unix.Statfs_t
	if s.reserve < 0 {
		return nil
	}
	if err := unix.Statfs(s.dir, &fs); err != nil {
		return fileError(s.dir, err)
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < s.reserve { //nolint:unconvert // the types differ between systems
		return fmt.Errorf("%s: %w: the disk has %d MiB left, free some space on it", s.path, ErrFull, free>>20)
	}
	return nil
}
