package roster_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
)

// soon is by when a change of a file is told.
const soon = 2*time.Second + 300*time.Millisecond

// A step changes a file, and says what is told then.
type step struct {
	name    string
	do      func()
	entries string
	trouble string // a part of it; empty for none
}

func follow(t *testing.T, path string, steps []step) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		source, err := roster.Parse("file:" + path)
		if err != nil {
			t.Fatal(err)
		}
		h := listen(t, source)
		for _, s := range steps {
			synctest.Wait()
			if s.do != nil {
				s.do()
				time.Sleep(soon)
			}
			got := h.last(t)
			if got.names() != s.entries || (s.trouble == "") != (got.trouble == "") || !strings.Contains(got.trouble, s.trouble) {
				t.Errorf("%s: %q, %q", s.name, got.names(), got.trouble)
			}
		}
		n := len(h.told())
		time.Sleep(time.Hour)
		if more := len(h.told()) - n; more != 0 {
			t.Errorf("told %d times what has not changed", more)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFile: changes come by themselves, and what is broken costs no machine that was right.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "machines")
	put := func(text string) func() { return func() { write(t, path, text) } }
	follow(t, path, []step{
		{"missing at first", nil, "", "no such file"},
		{"written", put("# ours\r\n\r\n  https://m1:1,\r\nhttps://m2:1#sha256:" + pinned + "\n"), "m1:1 m2:1", ""},
		{"one more, no end of line", put("https://m1:1\nhttps://m3:1"), "m1:1 m3:1", ""},
		{"emptied", put(""), "m1:1 m3:1", "is empty, so the list stays as it was"},
		{"blank", put(" \n\n"), "m1:1 m3:1", "is empty"},
		{"an entry broken", put("https://m1:1\nhttp://m2:1\nhttps://a:s3cret@m3:1\nhttps://m4:1"), "m1:1 m4:1", "line 2, http://m2:1: is not https://"},
		{"all broken", put("hello, this is something else\n<html>\n"), "m1:1 m4:1", "line 1, …: is more than one word"},
		{"a comment behind an entry", put("https://m1:1 # the old one\nhttps://m5:1"), "m5:1", "line 1, https://m1:1: is more than one word"},
		{"twice", put("https://m5:1\nhttps://m5:1\n"), "m5:1", "line 2, https://m5:1: stands there twice"},
		{"many broken", put("https://m5:1\n" + strings.Repeat("x\n", 9)), "m5:1", "and 6 more lines"},
		{"right again", put("https://m5:1"), "m5:1", ""},
		{"taken away", func() { _ = os.Remove(path) }, "m5:1", "cannot be read, so the list stays as it was"},
		{"the same again", put("https://m5:1"), "m5:1", ""},
		{"too large", put("https://m6:1\n" + strings.Repeat("#\n", 1<<19)), "m5:1", "more than"},
		{"no machine, and meant", put("# none for now\n"), "", ""},
	})
}

// TestFileTellsNoSecret: what stands in a line that is broken is not told.
func TestFileTellsNoSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "machines")
	write(t, path, "https://a:s3cret@m3:1\ns3cret\nhttps://m1:1?t=s3cret\n")
	synctest.Test(t, func(t *testing.T) {
		source, _ := roster.Parse("file:" + path)
		if got := listen(t, source).last(t); strings.Contains(got.trouble, "s3cret") || !strings.Contains(got.trouble, "line 3") {
			t.Errorf("told %q", got.trouble)
		}
	})
}

// TestFileReplaced: by rename, as editors do, and by the symbolic link of a ConfigMap.
func TestFileReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "machines")
	write(t, path, "https://m1:1")
	version := func(name, text string) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "machines"), text)
		link(t, name, filepath.Join(dir, "..data"))
	}
	follow(t, path, []step{
		{"first", nil, "m1:1", ""},
		{"renamed over, of the same size and time", func() {
			info, _ := os.Stat(path)
			other := filepath.Join(dir, "new")
			write(t, other, "https://m2:1")
			_ = os.Chtimes(other, info.ModTime(), info.ModTime())
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		}, "m2:1", ""},
		{"a ConfigMap", func() {
			version("..1", "https://m3:1")
			link(t, filepath.Join("..data", "machines"), path)
		}, "m3:1", ""},
		{"another one", func() { version("..2", "https://m4:1") }, "m4:1", ""},
		{"a folder", func() { link(t, dir, path) }, "m4:1", "no regular file"},
		{"a pipe", func() {
			pipe := filepath.Join(dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			link(t, pipe, path)
		}, "m4:1", "no regular file"},
	})
}

// link makes a symbolic link, in the place of what is there.
func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(at+".new", at); err != nil {
		t.Fatal(err)
	}
}

// TestFileBeingWritten: a file is taken when it has come to rest, and not in the middle of a write.
func TestFileBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "machines")
	write(t, path, "https://m1:1\nhttps://m2:1\n")
	synctest.Test(t, func(t *testing.T) {
		source, _ := roster.Parse("file:" + path)
		h := listen(t, source)
		h.last(t)
		time.Sleep(2*time.Second - time.Millisecond)
		write(t, path, "https://m1:1\n")
		time.Sleep(100 * time.Millisecond)
		write(t, path, "https://m1:1\nhttps://m2:1\nhttps://m3:1\n")
		time.Sleep(2 * soon)
		if all := h.told(); len(all) != 2 || all[1].names() != "m1:1 m2:1 m3:1" {
			t.Errorf("told %+v", all)
		}
	})
}
