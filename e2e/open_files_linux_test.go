package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestOpenFilesOfCodex: codex, and what it starts, may have more files open than whoever starts the
// runtime may at first, since it has two for each thread that is loaded.
func TestOpenFilesOfCodex(t *testing.T) {
	t.Parallel()
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("may have %d open", min(own.Max, 1<<16))
	if got := text(start(t).send("m1", "one", `run echo "may have $(ulimit -Sn) open"`)); !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
