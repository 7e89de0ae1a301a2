package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// What the database and its log have on the disk before they need it: enough for the ends,
// cancels and tools of what runs when somebody has filled the disk. Neither gets longer by it.
const (
	ballastOfLog      = 2 << 20 // what is in the log goes over into the database within a second
	ballastOfDatabase = 4 << 20
	ballastSize       = ballastOfLog + ballastOfDatabase
)

// A ballast holds room on the disk for a database and its log. SQLite would lose its lock on
// the database with the first descriptor of that which this process closes, so the ballast
// keeps its own until the connection is closed.
type ballast struct{ database, log *os.File }

func newBallast(path string) (b *ballast, err error) {
	b = &ballast{}
	if b.database, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, fileError(path, err)
	}
	if b.log, err = os.OpenFile(path+"-wal", os.O_RDWR, 0); err != nil {
		b.release()
		return nil, fileError(path+"-wal", err)
	}
	return b, nil
}

// hold has the room be there, of which some may be used by now.
func (b *ballast) hold() error {
	info, err := b.database.Stat()
	if err != nil {
		return err
	}
	for file, span := range map[*os.File][2]int64{b.log: {0, ballastOfLog}, b.database: {info.Size(), ballastOfDatabase}} {
		err := unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_KEEP_SIZE, span[0], span[1])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	return nil
}

func (b *ballast) release() {
	for _, file := range []*os.File{b.database, b.log} {
		if file != nil {
			_ = file.Close()
		}
	}
}
