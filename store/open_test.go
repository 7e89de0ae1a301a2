package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func lockedBy(t *testing.T, err error) *LockedError {
	t.Helper()
	locked, ok := errors.AsType[*LockedError](err)
	if !ok {
		t.Fatalf("opened with %v, want a LockedError", err)
	}
	return locked
}

func TestSecondStoreOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	_, err := Open(t.Context(), Config{Dir: dir})
	equal(t, lockedBy(t, err).PID, os.Getpid())
	closeStore(t, s)
	open(t, Config{Dir: dir})
}

func TestFiles(t *testing.T) {
	for _, name := range []string{"new/state", "with space", "a?b#c%d&mode=ro"} {
		dir := filepath.Join(t.TempDir(), name)
		s := open(t, Config{Dir: dir})
		accept(t, s, 1, "task")
		for file, want := range map[string]os.FileMode{"": 0o700, "state.db": 0o600, "state.db-wal": 0o600, "state.lock": 0o600} {
			info, err := os.Stat(filepath.Join(dir, file))
			must(t, err)
			equal(t, info.Mode().Perm(), want)
		}
		closeStore(t, s)
		entries, err := os.ReadDir(dir)
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		equal(t, names, []string{"state.db", "state.lock"})
	}
}

// filled returns a directory with a closed store that has some tasks.
func filled(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, Config{Dir: dir})
	for i := range 50 {
		accept(t, s, i, "task")
	}
	closeStore(t, s)
	return dir, s.Path()
}

func TestDamagedFile(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"short":     func(path string) error { return os.Truncate(path, 50) },
		"truncated": func(path string) error { return os.Truncate(path, 5*4096) },
		"garbage":   func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("garbage"), 9999), 0o600) },
		"header":    func(path string) error { return overwrite(path, 0, "SQLite 2") },
		"page-one":  func(path string) error { return overwrite(path, 100, strings.Repeat("\xff", 3000)) },
		"gone": func(path string) error {
			return errors.Join(os.WriteFile(path+"-wal", []byte("a log"), 0o600), os.Remove(path))
		},
		"not-ours": func(path string) error { return overwrite(path, 68, "\x01\x02\x03\x04") },
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := filled(t)
			must(t, damage(path))
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), Config{Dir: dir})
			wantErr(t, err, ErrCorrupt)
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error %q does not name the file", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if _, err := Open(t.Context(), Config{Dir: dir}); !errors.Is(err, ErrCorrupt) {
				t.Errorf("the second try gives %v", err) // and the lock was given back
			}
		})
	}
}

func overwrite(path string, at int64, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(text), at)
	return errors.Join(err, file.Close())
}

func TestCheckFindsDamage(t *testing.T) {
	dir, path := filled(t)
	info, err := os.Stat(path)
	must(t, err)
	for at := int64(4096 * 2); at < info.Size(); at += 4096 { // past the header and the map of pages
		must(t, overwrite(path, at+8, "damage damage damage"))
	}
	s, err := Open(t.Context(), Config{Dir: dir})
	if err != nil {
		wantErr(t, err, ErrCorrupt)
		return
	}
	defer s.Close()
	wantErr(t, s.Check(t.Context()), ErrCorrupt)
}

func TestTornLogIsCutOff(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "accepts", dir)
	said := c.line()
	c.kill()
	log, err := os.OpenFile(filepath.Join(dir, "state.db-wal"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	log.Write(bytes.Repeat([]byte("torn"), 1500))
	must(t, log.Close())
	settled(t, dir, []string{said})
}

func TestUnfitDirectory(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(path, nil, 0o600))
		_, err := Open(t.Context(), Config{Dir: path})
		if err == nil || !strings.Contains(err.Error(), path+" is not a directory") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("database-is-a-directory", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.Mkdir(filepath.Join(dir, "state.db"), 0o700))
		_, err := Open(t.Context(), Config{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		// /proc refuses new files to everybody, root too.
		_, err := Open(t.Context(), Config{Dir: "/proc/self"})
		if err == nil || !strings.Contains(err.Error(), "/proc/self/state.lock") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("no-permission", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("permissions do not hold root back")
		}
		dir, path := filled(t)
		must(t, os.Chmod(path, 0o400))
		_, err := Open(t.Context(), Config{Dir: dir})
		wantErr(t, err, ErrReadOnly)
		must(t, os.Chmod(dir, 0o500))
		t.Cleanup(func() { os.Chmod(dir, 0o700) }) // so that it can be removed
		_, err = Open(t.Context(), Config{Dir: filepath.Join(dir, "new")})
		wantErr(t, err, ErrReadOnly)
	})
}

func TestNewerSchema(t *testing.T) {
	dir, path := filled(t)
	c, err := dial(path, false)
	must(t, err)
	must(t, c.script("PRAGMA locking_mode = EXCLUSIVE; PRAGMA user_version = 99"))
	must(t, c.close())
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = Open(t.Context(), Config{Dir: dir})
	wantErr(t, err, ErrNewer)
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "99") {
		t.Errorf("error is %q", err)
	}
	after, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestMigration(t *testing.T) {
	dir, path := filled(t)
	released, err := migrations(embedded)
	must(t, err)
	now := time.Unix(5, 0)
	to := func(path string, all []migration) upgrade {
		return upgrade{path: path, all: all, now: now, disk: disk{dir: dir, space: space}}
	}
	with := func(text string) upgrade {
		return to(path, append(slices.Clip(released), migration{version: len(released) + 1, name: "made_up", text: text}))
	}

	_, err = connect(with("CREATE TABLE extra (x); INSERT INTO extra VALUES (1); SELECT nonsense"), 0)
	if err == nil || !strings.Contains(err.Error(), "made_up") {
		t.Fatalf("a broken migration gives %v", err)
	}
	next := with("CREATE TABLE extra (x); INSERT INTO extra SELECT id FROM tasks")
	for range 2 { // the second time there is nothing to do
		c, err := connect(next, 0)
		must(t, err)
		for text, want := range map[string]int64{
			"SELECT count(*) FROM extra":                                    1,
			"SELECT count(*) FROM messages":                                 50,
			"SELECT count(*) FROM migrations":                               int64(len(next.all)),
			"SELECT max(applied_at) FROM migrations WHERE name = 'made_up'": nanos(now),
		} {
			n, err := c.number(text)
			must(t, err)
			equal(t, n, want)
		}
		must(t, c.close())
	}

	copied := fmt.Sprintf("%s.v%d.bak", path, len(released))
	info, err := os.Stat(copied)
	must(t, err)
	equal(t, info.Mode().Perm(), 0o600)
	c, err := connect(to(copied, released), 0)
	must(t, err)
	n, err := c.number("SELECT count(*) FROM messages")
	must(t, err)
	equal(t, n, 50)
	must(t, c.close())
	_, err = connect(to(path, released), 0)
	wantErr(t, err, ErrNewer)
}

func TestMigrationsAreNumbered(t *testing.T) {
	folder := fstest.MapFS{"migrations/0001_a.sql": {}, "migrations/0003_b.sql": {}}
	if _, err := migrations(folder); err == nil {
		t.Error("a gap was not noticed")
	}
}

func TestUnfinishedCreationIsStartedAfresh(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"state.db.new", "state.db.new-wal", "state.db.new-journal"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
	}
	s := open(t, Config{Dir: dir})
	must(t, s.Check(t.Context()))
}

func TestNetworkFileSystem(t *testing.T) {
	if kind := networkFileSystem(t.TempDir()); kind != "" {
		t.Skip("the tests run on a network file system")
	}
	var log bytes.Buffer
	open(t, Config{Dir: filepath.Join(t.TempDir(), "state"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	equal(t, log.String(), "")
}
