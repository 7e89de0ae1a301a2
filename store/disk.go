package store

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// reserved is left free on the disk for what has been accepted: turns that run, and
// their ends.
const reserved = 16 << 20

// reservedOfFiles is left free by files that messages bring: where no more of them are taken,
// messages without files still are.
const reservedOfFiles = 2 * reserved

// A disk is where a database lies.
type disk struct {
	dir     string
	what    string // is named in errors; empty means the database in it
	files   bool   // it is asked for files that messages bring
	reserve int64  // bytes; none if it is not above 0
	space   func(dir string) (free, all int64, err error)
}

// path is of the database on it.
func (d disk) path() string { return filepath.Join(d.dir, "state.db") }

// Room returns why no message is accepted now: [ErrFull] when the disk has less left than
// is reserved for the work that has been accepted, and [ErrReplaced] when what is
// accepted would not be found again. It is a few calls of the system.
func (s *Store) Room() error {
	if err := s.Replaced(); err != nil {
		return err
	}
	for _, dir := range s.also {
		beside := s.disk
		beside.dir, beside.what = dir, dir
		if err := beside.room(0); errors.Is(err, ErrFull) {
			return err
		}
	}
	return s.disk.room(0)
}

// RoomFor returns [ErrFull] when a file of so many bytes beside the database would take
// what is reserved for the work that has been accepted.
func (s *Store) RoomFor(bytes int64) error {
	return s.disk.room(bytes)
}

// RoomIn returns why a store in a directory would accept no message: [ErrFull], or nil.
func RoomIn(dir string) error {
	return disk{dir: dir, reserve: reserved, space: space}.room(0)
}

// RoomBeside returns [ErrFull] when a file of so many bytes on the disk of a directory
// would take what is left free there for turns that run.
func RoomBeside(dir string, bytes int64) error {
	return disk{dir: dir, what: dir, reserve: reserved, space: space}.room(bytes)
}

// RoomForFiles returns [ErrFull] when a file of a message, of so many bytes, would take
// what is left free on the disk of a directory for turns that run and messages without files.
func RoomForFiles(dir string, bytes int64) error {
	return disk{dir: dir, what: dir, files: true, reserve: reservedOfFiles, space: space}.room(bytes)
}

// room returns why so many bytes would be too many: the reserve is to be left beside them.
func (d disk) room(bytes int64) error {
	if d.reserve <= 0 {
		return nil
	}
	path, kept, takes := cmp.Or(d.what, d.path()), "turns that run", "message"
	if d.files {
		kept, takes = "turns that run and messages without files", "message with files"
	}
	free, all, err := d.space(d.dir)
	switch {
	case err != nil:
		return fileError(d.dir, err)
	case free-bytes >= d.reserve:
		return nil
	case all < d.reserve:
		return fmt.Errorf("%s: %w: its disk has %d MiB in all, and %d MiB of it are kept free for %s: no %s is ever accepted on it, use a larger one",
			path, ErrFull, all>>20, d.reserve>>20, kept, takes)
	}
	return fmt.Errorf("%s: %w: its disk has %d MiB left, and %d MiB are kept for %s: free some space on it", path, ErrFull, free>>20, d.reserve>>20, kept)
}

// diskShare is the part of a disk that one kind of files may take.
const diskShare = 4

// ShareOfDisk is how many bytes one kind of files may take in a directory: at most so many, and no more
// than a quarter of its disk.
func ShareOfDisk(dir string, most int64) int64 {
	_, all, err := space(dir)
	if err != nil {
		return most
	}
	return min(most, all/diskShare)
}

// space asks the system how much of a disk is free for us, and how large it is.
func space(dir string) (free, all int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, err
	}
	size := int64(fs.Bsize) //nolint:unconvert // the types differ between systems
	return int64(fs.Bavail) * size, int64(fs.Blocks) * size, nil
}
