package store

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
)

// from returns a directory with a state of the schema before ours, of some three MiB, what
// brings it to ours, and the name of the copy that this makes.
func from(t *testing.T) (dir string, u upgrade, copied string) {
	t.Helper()
	all, err := migrations(embedded)
	must(t, err)
	dir = t.TempDir()
	u = upgrade{path: filepath.Join(dir, "state.db"), all: all, now: time.Unix(5, 0),
		disk: disk{dir: dir, reserve: reserved, space: space}, logger: slog.New(slog.DiscardHandler)}
	must(t, create(before(u)))
	c, err := connect(before(u), 0)
	must(t, err)
	must(t, second(c.exec(`INSERT INTO tasks (id, context_id, conversation, state, at, created, head)
		VALUES ('old', 'c', 'c', 'working', 1, 1, ?)`, slices.Concat(make([]byte, 3<<20), []byte(rand.Text())))))
	must(t, c.close())
	return dir, u, copyOf(u.path, len(all)-1)
}

// before is what the program of the schema before ours does.
func before(u upgrade) upgrade {
	u.all = u.all[:len(u.all)-1]
	return u
}

// stands returns what lies in a directory, without the lock.
func stands(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, entry := range entries {
		if entry.Name() != "state.lock" {
			names = append(names, entry.Name())
		}
	}
	return names
}

// hasTask checks that a program opens a database, and finds what was in it.
func hasTask(t *testing.T, u upgrade) {
	t.Helper()
	c, err := connect(u, 0)
	must(t, err)
	n, err := c.number("SELECT count(*) FROM tasks WHERE id = 'old'")
	var sound string
	must(t, errors.Join(err, c.get("PRAGMA integrity_check", nil, &sound), c.close()))
	equal(t, n, 1)
	equal(t, sound, "ok")
}

// withFree is a disk with so many MiB left.
func withFree(mib int64) func(string) (int64, int64, error) {
	return func(string) (int64, int64, error) { return mib << 20, 1 << 30, nil }
}

// TestUpgradeAsksForRoom: where there is none for the copy, nothing is written, and the
// program from before works.
func TestUpgradeAsksForRoom(t *testing.T) {
	dir, u, copied := from(t)
	was, err := os.ReadFile(u.path)
	must(t, err)
	_, err = Open(t.Context(), Config{Dir: dir, Space: withFree(18)})
	wantErr(t, err, ErrFull)
	if want := u.path + ": no room left: the copy takes 4 MiB, and of the 18 MiB that its disk has left 16 are kept for turns that run: free 2 MiB on it"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	is, err := os.ReadFile(u.path)
	must(t, err)
	if equal(t, stands(t, dir), []string{"state.db"}); !slices.Equal(was, is) {
		t.Error("the database was changed")
	}
	hasTask(t, before(u))
	closeStore(t, open(t, Config{Dir: dir, Space: withFree(20)}))
	equal(t, stands(t, dir), []string{"state.db", filepath.Base(copied)})
	hasTask(t, u)
}

// TestInspectAsksForRoom: what an upgrade would refuse is known before.
func TestInspectAsksForRoom(t *testing.T) {
	dir, u, _ := from(t)
	in, err := Inspect(dir)
	must(t, err)
	if info, err := os.Stat(u.path); err != nil || in.used > info.Size() || in.used < 3<<20 {
		t.Errorf("the copy has %d bytes, of %d: %v", in.used, info.Size(), err)
	}
	must(t, errors.Join(overwrite(u.path, 16, "\x00\x01"), overwrite(u.path, 28, "\x7f\xff\xff\xff"))) // 128 TiB
	_, err = Inspect(dir)
	wantErr(t, err, ErrFull)
}

// TestCopyInsteadOfTheOneBefore: a start that was killed after its copy has left that, and
// there is no room for two.
func TestCopyInsteadOfTheOneBefore(t *testing.T) {
	dir, u, copied := from(t)
	must(t, os.WriteFile(copied, make([]byte, 1<<20), 0o600))
	_, err := Open(t.Context(), Config{Dir: dir, Space: withFree(17)})
	wantErr(t, err, ErrFull)
	equal(t, stands(t, dir), []string{"state.db", filepath.Base(copied)})

	must(t, os.WriteFile(copied, make([]byte, 4<<20), 0o600))
	u.disk.space = withFree(17)
	c := watched(t, u, func() sqlite.AuthResult {
		if names := stands(t, dir); slices.Contains(names, filepath.Base(copied)) && slices.Contains(names, filepath.Base(copied)+".part") {
			t.Error("there are two copies")
		}
		return sqlite.AuthResultOK
	})
	must(t, errors.Join(c.backup(u, copied), c.close()))
	u.path = copied
	hasTask(t, before(u))
}

// TestCopyIsTheOwners from its first byte on, also where files are made for everybody by
// default and the directory is open.
func TestCopyIsTheOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir, u, copied := from(t)
	must(t, os.Chmod(dir, 0o755))
	seen := 0
	c := watched(t, u, func() sqlite.AuthResult {
		for name, mode := range modes(t, dir) {
			if strings.Contains(name, ".bak") {
				seen++
				if mode != 0o600 {
					t.Errorf("%s has %s", name, mode)
				}
			}
		}
		return sqlite.AuthResultOK
	})
	must(t, errors.Join(c.backup(u, copied), c.close()))
	if seen == 0 {
		t.Error("the copy was not seen while it was made")
	}
	equal(t, modes(t, dir)[filepath.Base(copied)], 0o600)
}

// TestFailedCopyLeavesNothing, and an earlier one of its name as it is.
func TestFailedCopyLeavesNothing(t *testing.T) {
	dir, u, copied := from(t)
	must(t, os.WriteFile(copied, []byte("earlier"), 0o600))
	half := false
	c := watched(t, u, func() sqlite.AuthResult {
		if part, err := os.Stat(copied + ".part"); err == nil && part.Size() > 0 {
			half = true
			return sqlite.AuthResultDeny
		}
		return sqlite.AuthResultOK
	})
	err := c.backup(u, copied)
	must(t, c.close())
	if err == nil || !half {
		t.Fatalf("half a copy was made: %t, and it ended with %v", half, err)
	}
	equal(t, stands(t, dir), []string{"state.db", filepath.Base(copied)})
	text, err := os.ReadFile(copied)
	must(t, err)
	equal(t, string(text), "earlier")
}

// watched is a connection of the program from before that asks whether it may go on, also
// in the middle of a copy.
func watched(t *testing.T, u upgrade, ask func() sqlite.AuthResult) *conn {
	t.Helper()
	c, err := connect(before(u), 0)
	must(t, err)
	must(t, c.raw.SetAuthorizer(sqlite.AuthorizeFunc(func(sqlite.Action) sqlite.AuthResult { return ask() })))
	return c
}

// TestKilledCopyIsRemoved by the next start, whatever there is to upgrade by then.
func TestKilledCopyIsRemoved(t *testing.T) {
	dir, path := filled(t)
	for _, left := range []string{".v9.bak.part", ".v9.bak.part-journal", ".v10.bak.part", ".v10.bak.part-wal", ".v9.bak", ".v9.bak.partly"} {
		must(t, os.WriteFile(path+left, []byte("half"), 0o600))
	}
	closeStore(t, open(t, Config{Dir: dir}))
	equal(t, stands(t, dir), []string{"state.db", "state.db.v9.bak", "state.db.v9.bak.partly"})
}

// TestOlderCopiesGo when a newer one stands and the upgrade is done, and not before.
func TestOlderCopiesGo(t *testing.T) {
	dir, u, copied := from(t)
	kept := []string{"state.db.v2.bak.mine", "state.db.v99", "my-state.db.v2.bak"}
	for _, name := range append([]string{"state.db.v2.bak", "state.db.v99.bak"}, kept...) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("a copy"), 0o600))
	}
	had := stands(t, dir)
	broken := u
	broken.all = slices.Concat(u.all, []migration{{version: len(u.all) + 1, name: "broken", text: "SELECT nonsense"}})
	if _, err := connect(broken, 0); err == nil {
		t.Fatal("a broken migration did not fail")
	}
	equal(t, stands(t, dir), sorted(append(had, filepath.Base(copied))))
	closeStore(t, open(t, Config{Dir: dir}))
	equal(t, stands(t, dir), sorted(append(kept, "state.db", filepath.Base(copied))))
	u.path = copied
	hasTask(t, before(u))
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// TestUpgradeIsWhole: one that is cut off after some of its migrations leaves the schema
// that its copy has, so that the next one copies nothing that no program can use.
func TestUpgradeIsWhole(t *testing.T) {
	_, u, copied := from(t)
	broken := u
	broken.all = slices.Concat(u.all, []migration{{version: len(u.all) + 1, name: "broken", text: "SELECT nonsense"}})
	if _, err := connect(broken, 0); err == nil || !strings.Contains(err.Error(), "migration broken: ") {
		t.Fatalf("a broken migration gives %v", err)
	}
	hasTask(t, before(u))
	if _, err := os.Stat(copyOf(u.path, len(u.all))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a copy of a schema in between: %v", err)
	}
	must(t, second(os.Stat(copied)))
}
