package giveback

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSettle: what the start has touched of the program's file is resident no more, and
// the program goes on.
func TestSettle(t *testing.T) {
	before := residentFile(t)
	if err := Settle(); err != nil {
		t.Fatal(err)
	}
	if after := residentFile(t); after >= before {
		t.Errorf("resident pages of files: %d kB before, %d kB after", before, after)
	}
}

// TestSettleKeepsWhatWasWritten: pages of the file that were written, and can be no more,
// stay as they are. The linker of a program that may run at any address leaves such ones.
func TestSettleKeepsWhatWasWritten(t *testing.T) {
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	page, err := unix.Mmap(int(exe.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(page) }()
	page[0] = 'w' // an executable begins with 0x7f
	if err := unix.Mprotect(page, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	if err := Settle(); err != nil {
		t.Fatal(err)
	}
	if page[0] != 'w' {
		t.Error("what was written is gone")
	}
}

func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Skip("this kernel does not tell resident pages of files apart")
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
