package files

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// planted makes a working directory with something that commands cannot write in it, and
// returns a function that reports what has come into that.
func planted(t *testing.T) (f *Folder, work string, untouched func()) {
	t.Helper()
	work = t.TempDir()
	rules := filepath.Join(work, ".codex", "rules")
	if err := os.MkdirAll(rules, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(rules, "default.rules"), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-100 * time.Hour)
	kept := filepath.Join(rules, strings.Repeat("0", 32)+"-kept")
	if err := errors.Join(os.WriteFile(kept, nil, 0o600), os.Chtimes(kept, old, old)); err != nil {
		t.Fatal(err)
	}
	return New(Config{Work: work}), work, func() {
		t.Helper()
		entries, err := os.ReadDir(rules)
		if err != nil || len(entries) != 2 {
			t.Errorf("what is not the folder's: %v, %v", entries, err)
		}
		entries, err = os.ReadDir(filepath.Join(work, ".codex"))
		if err != nil || len(entries) != 1 {
			t.Errorf("what is not the folder's: %v, %v", entries, err)
		}
	}
}

// TestLinksInThePlaceOfTheFolder lead nothing of a message elsewhere, and keep none of its
// files out; nothing is looked for or deleted where they lead.
func TestLinksInThePlaceOfTheFolder(t *testing.T) {
	outside := t.TempDir()
	for name, links := range map[string][][2]string{ // what stands where
		"inside":                 {{".molecule", ".codex/rules"}},
		"inside, absolute":       {{".molecule", "WORK/.codex/rules"}},
		"above":                  {{".molecule", "."}},
		"outside":                {{".molecule", outside}},
		"to nothing":             {{".molecule", ".codex/none"}},
		"to itself":              {{".molecule", ".molecule"}},
		"of a chain":             {{"a", ".codex"}, {".molecule", "a/rules"}},
		"second, inside":         {{".molecule/chat-uploads", "../.codex/rules"}},
		"second, outside":        {{".molecule/chat-uploads", outside}},
		"second, to nothing":     {{".molecule/chat-uploads", "../.codex/none"}},
		"of what is ignored":     {{".molecule/chat-uploads/.gitignore", "../../.codex/none"}},
		"in the place of a file": {{".molecule/chat-uploads/STORED", "../../.codex/rules/default.rules"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, work, untouched := planted(t)
			in := Incoming{Key: "k", Name: "x.rules", Content: []byte("theirs")}
			first, err := New(Config{Work: t.TempDir()}).Stage(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range links {
				at := filepath.Join(work, strings.ReplaceAll(link[0], "STORED", filepath.Base(first.Path)))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(strings.ReplaceAll(link[1], "WORK", work), at)); err != nil {
					t.Fatal(err)
				}
			}
			f.Remove(File{Path: "default.rules"})
			if err := f.Sweep(time.Now()); err != nil && !errors.Is(err, errLink) {
				t.Error(err)
			}
			file, err := f.Stage(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(file.Path)
			if err != nil || !info.Mode().IsRegular() {
				t.Errorf("the file of the message: %v, %v", info, err)
			}
			if where, err := filepath.EvalSymlinks(file.Path); err != nil || where != file.Path {
				t.Errorf("it stands at %s, %v", where, err)
			}
			untouched()
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("outside: %v, %v", left, err)
			}
		})
	}
}

// TestWhatElseStandsInThePlaceOfTheFolder is the user's: it stays, and the error names it.
func TestWhatElseStandsInThePlaceOfTheFolder(t *testing.T) {
	f, work, _ := planted(t)
	at := filepath.Join(work, ".molecule")
	if err := os.WriteFile(at, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add("a", "", strings.NewReader("x"), 9); !errors.Is(err, errNoFolder) || !strings.Contains(err.Error(), at) {
		t.Error(err)
	}
	if text, err := os.ReadFile(at); string(text) != "theirs" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFolderThatIsSwapped: a link that is put there at any step leads nowhere.
func TestFolderThatIsSwapped(t *testing.T) {
	for swapped, target := range map[string]string{".molecule": ".codex/rules", ".molecule/chat-uploads": "../.codex/rules"} {
		f, work, untouched := planted(t)
		if err := os.MkdirAll(filepath.Join(work, place), 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := f.descend(func(at *os.Root, name string) (*os.Root, error) {
			next, _, err := f.claim(at, name)
			if path := filepath.Join(work, swapped); filepath.Base(path) == name {
				err = errors.Join(err, os.Rename(path, filepath.Join(work, "moved")), os.Symlink(target, path))
			}
			return next, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := write(nil, root, "x.rules", strings.NewReader("theirs"), 99, nil); err != nil {
			t.Errorf("%s: %v", swapped, err)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
		untouched()
	}
}

// TestSwapBetweenLookAndStep: a folder was seen, and is a link by the time it is opened.
func TestSwapBetweenLookAndStep(t *testing.T) {
	_, work, _ := planted(t)
	at, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := at.Mkdir(".molecule", 0o755); err != nil {
		t.Fatal(err)
	}
	seen, err := at.Lstat(".molecule")
	if err := errors.Join(err, at.Rename(".molecule", "moved"), at.Symlink(".codex/rules", ".molecule")); err != nil {
		t.Fatal(err)
	}
	if next, err := enterSeen(at, ".molecule", seen); !errors.Is(err, errSwapped) {
		t.Errorf("%v, %v", next, err)
	}
}

// TestFolderThatIsSwappedAllTheTime: a command that never stops to put links there has
// files refused at most.
func TestFolderThatIsSwappedAllTheTime(t *testing.T) {
	f, work, untouched := planted(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		first, second, aside := filepath.Join(work, ".molecule"), filepath.Join(work, place), filepath.Join(work, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(second, aside)
			_ = os.Symlink("../.codex/rules", second)
			_ = os.Remove(second)
			_ = os.Rename(aside, second)
			_ = os.Rename(first, aside)
			_ = os.Symlink(".codex/rules", first)
			_ = os.Remove(first)
			_ = os.Rename(aside, first)
		}
	}()
	for range 500 {
		if file, err := f.Add("x.rules", "", bytes.NewReader([]byte("theirs")), 99); err == nil {
			_, _ = f.staged(filepath.Base(file.Path), "", "")
			f.Remove(file)
		}
		_ = f.Sweep(time.Now())
	}
	close(stop)
	<-stopped
	untouched()
}

// TestFolderOfAnotherMessage is not removed by one that has seen a link in its place.
func TestFolderOfAnotherMessage(t *testing.T) {
	f, work, _ := planted(t)
	at, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := errors.Join(at.Mkdir(".molecule", 0o755), f.unlink(at, ".molecule")); err != nil {
		t.Error(err)
	}
	if info, err := at.Lstat(".molecule"); err != nil || info.Mode().Type() != fs.ModeDir {
		t.Errorf("%v, %v", info, err)
	}
}

// TestFolderThatIsClosed to its owner is given back: a command in the sandbox can do that.
func TestFolderThatIsClosed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	base, err := os.MkdirTemp("", "closed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	work := filepath.Join(base, "work")
	user := &asuser.User{Name: "4242", UID: 4242, GID: 4242}
	if err := errors.Join(os.Chmod(base, 0o755), os.Mkdir(work, 0o755), os.Chown(work, 4242, 4242)); err != nil {
		t.Fatal(err)
	}
	f := New(Config{Work: work, User: user})
	uploads := filepath.Join(work, ".molecule", "chat-uploads")
	for _, closed := range []string{"", uploads, filepath.Dir(uploads)} {
		for _, mode := range []os.FileMode{0, 0o500, 0o300, 0o600} {
			if closed != "" {
				if err := os.Chmod(closed, mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := user.Do(func() error { return put(f) }); err != nil {
				t.Errorf("with %q of mode %o: %v", closed, mode, err)
			}
		}
	}
}

// put puts a file into the folder.
func put(f *Folder) error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	return errors.Join(root.WriteFile("x", nil, 0o600), root.Remove("x"))
}

// TestMessagesAtOnce that all meet the same link keep all of their files.
func TestMessagesAtOnce(t *testing.T) {
	for range 20 {
		f, work, untouched := planted(t)
		if err := os.Symlink(".codex/rules", filepath.Join(work, ".molecule")); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				file, err := f.Add("a", "", strings.NewReader("x"), 9)
				if _, there := os.Lstat(file.Path); err != nil || there != nil {
					t.Error(err, there)
				}
			})
		}
		all.Wait()
		untouched()
	}
}
