package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// magic is how a file of SQLite's begins.
const magic = "SQLite format 3\x00"

// An Inspection is what can be seen of a state directory without using it.
type Inspection struct {
	Path   string       // of the database
	Bytes  int64        // of the database and its log; 0 means that there is none yet
	Schema int          // its version; a lower one than ours is brought up to date by the next start
	Ours   int          // the version that this program writes
	Holder *LockedError // who uses it; nil if nobody does

	used int64 // bytes of the database that a copy has, too
}

// Inspect looks into a state directory and changes nothing: neither the files nor
// who may use them. It reads the database's header and no more. What makes a start
// fail is an error here, too.
func Inspect(dir string) (Inspection, error) {
	in := Inspection{Path: filepath.Join(dir, "state.db")}
	all, err := migrations(embedded)
	if err != nil {
		return in, err
	}
	in.Ours = len(all)
	if in.Holder, err = holderOf(dir); err != nil {
		return in, err
	}
	file, err := os.Open(in.Path)
	if errors.Is(err, os.ErrNotExist) {
		return in, nil
	}
	if err != nil {
		return in, fileError(in.Path, err)
	}
	defer file.Close()
	if err := in.header(file); err != nil {
		return in, err
	}
	if err := foreignLog(in.Path); err != nil {
		return in, err
	}
	for _, path := range []string{in.Path, in.Path + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			in.Bytes += info.Size()
		}
	}
	return in, in.roomForCopy()
}

// roomForCopy returns why the next start could not copy the database, where it has to. One
// that is in use is larger or smaller by then, and so is its disk.
func (in *Inspection) roomForCopy() error {
	if in.Holder == nil && in.Schema > 0 && in.Schema < in.Ours {
		d := disk{dir: filepath.Dir(in.Path), reserve: reserved, space: space}
		_, err := d.roomForCopy(copyOf(in.Path, in.Schema), in.used)
		return err
	}
	return nil
}

// header reads what SQLite keeps at the front of its file: its name, the size of a page at
// byte 16, how many there are and how many are unused at 28 and 36, the user's version at 60
// and the application's number at 68.
func (in *Inspection) header(file io.Reader) error {
	var h [72]byte
	if _, err := io.ReadFull(file, h[:]); err != nil {
		return damaged(in.Path, errors.New("it is too short"))
	}
	if string(h[:16]) != magic || binary.BigEndian.Uint32(h[68:]) != application {
		return damaged(in.Path, errors.New("it is no state database"))
	}
	page := int64(binary.BigEndian.Uint16(h[16:]))
	if page == 1 { // 65536 does not fit
		page <<= 16
	}
	in.used = page * (int64(binary.BigEndian.Uint32(h[28:])) - int64(binary.BigEndian.Uint32(h[36:])))
	in.Schema = int(binary.BigEndian.Uint32(h[60:]))
	if in.Schema > in.Ours {
		return fmt.Errorf("%s: %w: it has version %d and this program knows %d", in.Path, ErrNewer, in.Schema, in.Ours)
	}
	return nil
}

// holderOf says who uses a directory, or returns nil. The lock is tried with a
// shared one, which is given back at once.
func holderOf(dir string) (*LockedError, error) {
	file, err := os.Open(filepath.Join(dir, "state.lock"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileError(filepath.Join(dir, "state.lock"), err)
	}
	defer file.Close()
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		refused, _ := errors.AsType[*LockedError]((&lock{file: file}).refusal(dir))
		return refused, nil
	}
	return nil, nil
}
