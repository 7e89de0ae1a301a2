package codextemp

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

func openTemp(t *testing.T, s settings.Settings) *Temp {
	t.Helper()
	temp, err := Open(s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	begun(t, temp)
	return temp
}

// begun reports a fault unless there are the three directories, closed to others, and nothing else
// but what codex's sandbox keeps from commands.
func begun(t *testing.T, temp *Temp) {
	t.Helper()
	for dir, want := range map[string]int{temp.path: 3, temp.Dirs().Commands: 5, temp.Dirs().Guard: 4, temp.Dirs().Codex: 0} {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
		if held, err := os.ReadDir(dir); err != nil || len(held) != want {
			t.Errorf("%s has %v in it, %v", dir, held, err)
		}
	}
}

// TestDirectoryThatIsStillWritten: what a killed codex has started writes into its directory
// for a moment longer, which keeps no start from going on. Any other fault does.
func TestDirectoryThatIsStillWritten(t *testing.T) {
	written := &fs.PathError{Op: "unlinkat", Path: "mounts", Err: syscall.ENOTEMPTY}
	for want, faults := range map[error][]error{nil: {written, written, nil}, fs.ErrPermission: {written, fs.ErrPermission, nil}} {
		err := patiently(func() (err error) {
			err, faults = faults[0], faults[1:]
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestCodexTemp(t *testing.T) {
	s := settings.Settings{TempDir: t.TempDir(), StateDir: "/state"}
	first := openTemp(t, s)
	file := filepath.Join(first.Dirs().Codex, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = first.lock.Close() // as a kill does
	again := openTemp(t, s)
	if _, err := os.Lstat(file); again.path != first.path || err == nil {
		t.Errorf("%s after %s, and what was left there: %v", again.path, first.path, err)
	}
	for _, tidied := range []string{again.path, again.Dirs().Commands, again.Dirs().Codex, again.Dirs().Guard} {
		if err := os.RemoveAll(tidied); err != nil {
			t.Fatal(err)
		}
		if err := again.Keep(); err != nil {
			t.Error(err)
		}
		begun(t, again)
	}
	other := openTemp(t, settings.Settings{TempDir: s.TempDir, StateDir: "/another"})
	if other.path == again.path {
		t.Error("two state directories share one")
	}
	for _, temp := range []*Temp{again, other} {
		if err := temp.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(s.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCodexTempThatIsTaken: a name that is a link of another user's, or in use, is not
// taken, and nothing below it is touched.
func TestCodexTempThatIsTaken(t *testing.T) {
	s := settings.Settings{TempDir: t.TempDir(), StateDir: "/state"}
	inUse := openTemp(t, s)
	kept := filepath.Join(inUse.path, "kept")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	beside := openTemp(t, s)
	if _, err := os.Lstat(kept); err != nil || beside.path == inUse.path {
		t.Errorf("%s beside %s: %v", beside.path, inUse.path, err)
	}
	_ = beside.Close()
	_ = inUse.Close()

	target := t.TempDir()
	if err := os.WriteFile(filepath.Join(target, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(target, inUse.path), os.Chmod(target, 0o500)); err != nil { // what is closed is not opened by a link
		t.Fatal(err)
	}
	others := inUse.path + left + "1"
	if err := os.Symlink(target, others); err != nil {
		t.Fatal(err)
	}
	linked := openTemp(t, s)
	linked.sweeps.Wait()
	if _, err := os.Lstat(others); err != nil {
		t.Errorf("a link by the name of what was put aside: %v", err)
	}
	defer func() { _ = linked.Close() }()
	if _, err := os.Lstat(filepath.Join(target, "kept")); err != nil || linked.path == inUse.path {
		t.Errorf("%s: %v", linked.path, err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("where the link leads: %v, %v", info, err)
	}
}

// closedTemp is a temp directory of a user who is not root, with folders in it that this user
// may not write or enter.
func closedTemp(t *testing.T) (s settings.Settings, first *Temp) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "temp-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s = settings.Settings{TempDir: dir, StateDir: "/state"}
	if os.Getuid() == 0 {
		if s.User, err = asuser.Lookup("4242:4242"); err != nil {
			t.Fatal(err)
		}
	}
	first = openTemp(t, s)
	err = s.User.Do(func() error {
		within := func(names ...string) string { return filepath.Join(append([]string{first.path}, names...)...) }
		return errors.Join(
			os.MkdirAll(within("closed", "deep", "deeper"), 0o700), os.Chmod(within("closed", "deep"), 0), os.Chmod(within("closed"), 0),
			os.Mkdir(within("module"), 0o700), os.WriteFile(within("module", "file"), nil, 0o400), os.Chmod(within("module"), 0o500),
			os.Symlink("/", within("link")), os.Chmod(first.path, 0))
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, first
}

// TestCodexTempThatIsClosed is given back while it is in use, and is removed at the end, and
// at the start after a kill.
func TestCodexTempThatIsClosed(t *testing.T) {
	s, first := closedTemp(t)
	if err := first.Keep(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(first.Dirs().Commands, 0); err != nil { // as a command can in its sandbox
		t.Fatal(err)
	}
	if err := first.Keep(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{first.path, first.Dirs().Commands} {
		if info, err := os.Lstat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("in use %s is %v, %v", dir, info.Mode(), err)
		}
	}
	if err := os.Chmod(first.path, 0); err != nil {
		t.Fatal(err)
	}
	_ = first.lock.Close() // as a kill does
	again := openTemp(t, s)
	if again.path != first.path {
		t.Errorf("after a kill: %s after %s", again.path, first.path)
	}
	_ = again.lock.Close()
	s, first = closedTemp(t)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(s.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCodexTempThatStays: what cannot be removed, or takes long, keeps no start from going on.
func TestCodexTempThatStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	s, first := closedTemp(t)
	if err := errors.Join(os.Chmod(first.path, 0o700), os.Mkdir(filepath.Join(first.path, "roots"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first.path, "roots", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = first.lock.Close()
	again := openTemp(t, s)
	again.sweeps.Wait()
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	old, err := filepath.Glob(filepath.Join(s.TempDir, "*"+left+"*", "*"))
	if err != nil || len(old) != 1 || filepath.Base(old[0]) != "roots" {
		t.Errorf("of what was left there is still %v, %v", old, err)
	}
	if err := os.Chown(filepath.Join(first.path, "roots"), 4242, 4242); err == nil {
		t.Error("it stands where it stood")
	}
	if err := os.Chown(old[0], 4242, 4242); err != nil {
		t.Fatal(err)
	}
	if err := openTemp(t, s).Close(); err != nil { // a later life can remove it
		t.Error(err)
	}
	if entries, err := os.ReadDir(s.TempDir); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
