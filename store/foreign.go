package store

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// foreignLog returns an error where the log beside a database is another's: SQLite would
// play it into the file and ruin both. That is so where a copy was put in the place of a
// database whose program was killed. What SQLite copies says of itself that it has no log,
// until it is opened, and a database that has had one says so ever after: byte 18 is 1 or 2.
func foreignLog(path string) error {
	log, err := os.Stat(path + "-wal")
	if err != nil || log.Size() == 0 {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fileError(path, err)
	}
	defer file.Close()
	var head [19]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || !bytes.HasPrefix(head[:], []byte(magic)) || head[18] != 1 {
		return nil // whatever else it may be is seen later
	}
	return fmt.Errorf("%s: it is a copy that was put here, and %s-wal beside it is the log of another database, which would ruin it: "+
		"remove %s-wal, or put back the database that it belongs to", path, path, path)
}
