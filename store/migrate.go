package store

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var embedded embed.FS

// application marks the files that are ours, in the header that SQLite keeps
// for that.
const application = 0x6d6f6c63

// A migration takes the schema from the version before to its own. Those that
// have been released never change.
type migration struct {
	version int
	name    string
	text    string
}

// migrations returns those of a folder, which are numbered without gaps.
func migrations(folder fs.FS) ([]migration, error) {
	names, err := fs.Glob(folder, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]migration, 0, len(names))
	for i, name := range names { // Glob sorts
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		name = strings.TrimSuffix(filepath.Base(name), ".sql")
		if !strings.HasPrefix(name, fmt.Sprintf("%04d_", i+1)) {
			return nil, fmt.Errorf("migration %s is not number %d", name, i+1)
		}
		all = append(all, migration{version: i + 1, name: name, text: string(text)})
	}
	return all, nil
}

// An upgrade is how a database comes to the schema of this program.
type upgrade struct {
	path   string
	all    []migration
	now    time.Time
	disk   disk         // where a copy of the database from before has to have room
	logger *slog.Logger // hears what does not keep the store from working
}

// migrate brings the database to the last of the migrations. One that has been in use
// is copied first.
func (c *conn) migrate(u upgrade) error {
	version, err := c.version(u.path)
	if err != nil {
		return err
	}
	latest := len(u.all)
	switch {
	case version > latest:
		return fmt.Errorf("%s: %w: schema %d, this program knows up to %d; run that version, or move the file away",
			u.path, ErrNewer, version, latest)
	case version == latest:
		return nil
	case version == 0:
		return c.applyAll(u, version)
	}
	copied := copyOf(u.path, version)
	if err := c.backup(u, copied); err != nil {
		return fmt.Errorf("copy the database before migrating it: %w", err)
	}
	if err := c.applyAll(u, version); err != nil {
		return err
	}
	if err := removeOlder(u.path, copied); err != nil {
		u.logger.Warn("cannot remove the copies that earlier upgrades made of the state database: remove them by hand", "err", err)
	}
	return nil
}

// version returns the version of the schema, 0 for a database without any.
func (c *conn) version(path string) (int, error) {
	var app, version int
	if err := c.get("PRAGMA application_id", nil, &app); err != nil {
		return 0, explain(path, err)
	}
	if err := c.get("PRAGMA user_version", nil, &version); err != nil {
		return 0, explain(path, err)
	}
	if app != application && (app != 0 || version != 0) {
		return 0, damaged(path, fmt.Errorf("it belongs to another program, application id %#x", app))
	}
	return version, nil
}

// applyAll runs the migrations after a version, all of them or none: the copy is of what
// stands there when an upgrade is cut off, and the program from before works with it.
func (c *conn) applyAll(u upgrade, version int) (err error) {
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return explain(u.path, err)
	}
	defer func() {
		if err != nil {
			_ = c.script("ROLLBACK")
		}
	}()
	for _, m := range u.all[version:] {
		if err := c.apply(m, u.now); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, explain(u.path, err))
		}
	}
	return explain(u.path, c.script("COMMIT"))
}

// apply runs one migration, and writes down that it has run.
func (c *conn) apply(m migration, now time.Time) error {
	if err := c.script(m.text); err != nil {
		return err
	}
	const record = `CREATE TABLE IF NOT EXISTS migrations (
		version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`
	if err := c.script(record); err != nil {
		return err
	}
	if _, err := c.exec("INSERT INTO migrations VALUES (?, ?, ?)", m.version, m.name, nanos(now)); err != nil {
		return err
	}
	return c.script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, m.version))
}

// publish gives a finished file its name, on disk too.
func publish(part, path string) error {
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
