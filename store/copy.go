package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What the names of copies, and of those that are not whole, have behind the database's.
var (
	wholeCopy = regexp.MustCompile(`^\.v\d+\.bak$`)
	partOf    = regexp.MustCompile(`^\.v\d+\.bak\.part(-journal|-wal|-shm)?$`)
)

// copyOf is where the copy of a database lies that an upgrade from a version makes.
func copyOf(path string, version int) string {
	return fmt.Sprintf("%s.v%d.bak", path, version)
}

// backup copies the database, in place of an earlier copy. SQLite does it: reading the
// file past SQLite would drop its locks.
func (c *conn) backup(u upgrade, copied string) (err error) {
	if err := c.makeRoom(u, copied); err != nil {
		return err
	}
	part := copied + ".part"
	defer func() {
		if err != nil { // the disk may be full of it
			err = errors.Join(err, removeParts(u.path))
		}
	}()
	// SQLite would make the file for everybody, as far as the umask lets it. It takes one that is empty.
	if err := newFile(part); err != nil {
		return err
	}
	if _, err := c.exec("VACUUM INTO ?", part); err != nil {
		return explain(u.path, err)
	}
	return fileError(copied, publish(part, copied))
}

// makeRoom returns [ErrFull] when there is none for the copy.
func (c *conn) makeRoom(u upgrade, copied string) error {
	var pages, unused, size int64
	for pragma, value := range map[string]*int64{"page_count": &pages, "freelist_count": &unused, "page_size": &size} {
		if err := c.get("PRAGMA "+pragma, nil, value); err != nil {
			return explain(u.path, err)
		}
	}
	instead, err := u.disk.roomForCopy(copied, (pages-unused)*size)
	if instead {
		return fileError(copied, os.Remove(copied))
	}
	return err
}

// roomForCopy returns why a copy of so many bytes at path would be too much, or whether
// there is room for it only instead of the one at path. That is of the same schema, so it was
// made by a start that did not bring its upgrade to an end, or was put back since: the
// database has all that it has.
func (d disk) roomForCopy(path string, bytes int64) (instead bool, err error) {
	free, _, err := d.space(d.dir)
	if err != nil {
		return false, fileError(d.dir, err)
	}
	kept := max(d.reserve, 0)
	lack := bytes + kept - free
	if lack <= 0 {
		return false, nil
	}
	if earlier, err := os.Stat(path); err == nil && earlier.Size() >= lack {
		return true, nil
	}
	return false, fmt.Errorf("%s: %w: the copy takes %d MiB, and of the %d MiB that its disk has left %d are kept for turns that run: "+
		"free %d MiB on it (older copies, state.db.v*.bak, may go), or go on with the version from before",
		d.path(), ErrFull, roundedUp(bytes), free>>20, kept>>20, roundedUp(lack))
}

// roundedUp is how many MiB so many bytes take.
func roundedUp(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// removeParts removes what a copy that failed, or was killed, has left.
func removeParts(database string) error {
	left, err := beside(database, partOf)
	for _, path := range left {
		if e := os.Remove(path); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, fileError(path, e))
		}
	}
	return err
}

// removeOlder removes the copies that earlier upgrades have made: each is as large as the
// database was, and has what was forgotten since.
func removeOlder(database, newest string) error {
	all, err := beside(database, wholeCopy)
	for _, path := range all {
		if path != newest {
			err = errors.Join(err, fileError(path, os.Remove(path)))
		}
	}
	return err
}

// beside returns the files whose names are the database's and something behind it.
func beside(database string, behind *regexp.Regexp) (paths []string, err error) {
	dir, base := filepath.Split(database)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, fileError(dir, err)
	}
	for _, entry := range entries {
		if rest, ours := strings.CutPrefix(entry.Name(), base); ours && behind.MatchString(rest) {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths, nil
}
