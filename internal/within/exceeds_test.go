package within

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestExceeds: what may have more bytes than it says counts as too large, and what is none is not.
func TestExceeds(t *testing.T) {
	link := func(target string) func(string) error {
		return func(path string) error { return os.Symlink(target, path) }
	}
	sized := func(size int64) func(string) error {
		return func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, size)
		}
	}
	beside := t.TempDir()
	for name, size := range map[string]int64{"empty": 0, "small": 10, "large": 11} {
		if err := sized(size)(filepath.Join(beside, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/proc/self", filepath.Join(beside, "self")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plant func(path string) error
		want  bool
	}{
		"none":                 {func(string) error { return nil }, false},
		"as many":              {sized(10), false},
		"one more":             {sized(11), true},
		"sparse":               {sized(1 << 40), true},
		"empty":                {sized(0), false},
		"link":                 {link(filepath.Join(beside, "small")), false},
		"link to more":         {link(filepath.Join(beside, "large")), true},
		"link to an empty one": {link(filepath.Join(beside, "empty")), false},
		"link to none":         {link("none"), false},
		"link to a folder":     {link("."), false},
		"link to itself":       {link("x"), true},
		"made up":              {link("/proc/self/status"), true},
		"of each process":      {link("/proc/self/fd/0"), true},
		"by a folder":          {link(filepath.Join(beside, "self", "fd", "0")), true},
		"device":               {link("/dev/null"), true},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := c.plant(path); err != nil {
			t.Fatal(err)
		}
		if got := Exceeds(path, 10); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestPipeInThePlaceOfAFile: what has become a pipe since it was looked at is not waited for.
func TestPipeInThePlaceOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() // which ends a read that waits
	done := make(chan bool, 1)
	go func() { done <- isEmpty(path) }()
	select {
	case empty := <-done:
		if empty {
			t.Error("a pipe is taken for an empty file")
		}
	case <-time.After(10 * time.Second):
		t.Error("a pipe is read")
	}
}
