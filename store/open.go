package store

import (
	"errors"
	"fmt"
	"os"
)

// ensure makes a database at path unless there is one. The new one gets its name
// when it is whole: whatever stands at path once was good, so a file that has
// become empty is never taken for a new one.
func ensure(u upgrade) error {
	path := u.path
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: move it away", path)
	case err == nil && info.Size() == 0:
		return damaged(path, errors.New("it is empty"))
	case err == nil:
		return errors.Join(writable(path), foreignLog(path))
	case !errors.Is(err, os.ErrNotExist):
		return fileError(path, err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return damaged(path, fmt.Errorf("it is missing, but its log %s-wal is there", path))
	}
	return create(u)
}

// writable reports why a file cannot be written. SQLite would open it for reading
// then, and say something else later.
func writable(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fileError(path, err)
	}
	return file.Close()
}

// create makes a new database.
func create(u upgrade) error {
	path, part := u.path, u.path+".new"
	for _, left := range []string{part, part + "-wal", part + "-journal"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fileError(left, err)
		}
	}
	if err := newFile(part); err != nil {
		return err
	}
	c, err := dial(part, true)
	if err != nil {
		return explain(part, err)
	}
	// The size of pages and auto_vacuum can be chosen only before there are tables.
	err = c.script(fmt.Sprintf("PRAGMA page_size = %d; PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL", pageSize))
	if err == nil {
		u.path = part
		err = c.migrate(u)
	}
	if err = errors.Join(err, c.close()); err != nil {
		return explain(path, err)
	}
	return fileError(path, publish(part, path))
}

// newFile makes an empty file, which is its owner's alone.
func newFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fileError(path, err)
	}
	return fileError(path, file.Close())
}

// connect opens the database and brings it to the present schema.
func connect(u upgrade, maxPages int) (*conn, error) {
	c, err := dial(u.path, false)
	if err != nil {
		return nil, explain(u.path, err)
	}
	if err := c.prepare(u, maxPages); err != nil {
		_ = c.close()
		return nil, err
	}
	return c, nil
}

// prepare sets the connection up. Until the file is known to be ours and of a
// version that we know, it is only read.
func (c *conn) prepare(u upgrade, maxPages int) error {
	// With an exclusive lock from the first access on, the index of the log
	// stays in our memory: no -shm file, which odd volumes cannot map.
	if err := c.script("PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF"); err != nil {
		return explain(u.path, err)
	}
	if version, err := c.version(u.path); err != nil {
		return err
	} else if version <= len(u.all) {
		if err := c.configure(maxPages); err != nil {
			return explain(u.path, err)
		}
	}
	return c.migrate(u)
}

// configure chooses how SQLite works; see the package comment for why.
func (c *conn) configure(maxPages int) error {
	const pragmas = `
		PRAGMA journal_mode = WAL;
		PRAGMA wal_autocheckpoint = 0;
		PRAGMA journal_size_limit = 4194304;
		PRAGMA synchronous = NORMAL;
		PRAGMA mmap_size = 0;
		PRAGMA temp_store = MEMORY;
		BEGIN IMMEDIATE; ROLLBACK` // a file that cannot be written says so now
	if err := c.script(pragmas); err != nil {
		return err
	}
	if maxPages > 0 {
		return c.script(fmt.Sprintf("PRAGMA max_page_count = %d", maxPages))
	}
	return nil
}
