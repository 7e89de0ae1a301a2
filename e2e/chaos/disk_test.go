package chaos

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A disk is a small file system of its own for the state directory. It needs the
// right to mount one; without it the strikes on it are skipped, and the report says so.
type disk struct {
	dir  string // "" if there is none
	test testing.TB
}

func mountDisk(tb testing.TB, dir string) *disk {
	unmount, err := mount(dir)
	if err != nil {
		tb.Logf("the disk is not filled: a file system of its own cannot be mounted: %v", err)
		return &disk{test: tb}
	}
	tb.Cleanup(func() {
		if err := unmount(); err != nil {
			tb.Error(err)
		}
	})
	return &disk{dir: dir, test: tb}
}

func (d *disk) there() bool { return d.dir != "" }

// fill leaves nothing of the disk for a while.
func (d *disk) fill(hold time.Duration) bool {
	if !d.there() {
		return false
	}
	name := filepath.Join(d.dir, "ballast")
	file, err := os.Create(name)
	if err != nil {
		d.test.Error(err)
		return false
	}
	block := make([]byte, 1<<20)
	for len(block) > 512 {
		if _, err := file.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	pause(context.Background(), hold)
	if err := file.Close(); err != nil {
		d.test.Error(err)
	}
	if err := os.Remove(name); err != nil {
		d.test.Error(err)
	}
	return true
}
