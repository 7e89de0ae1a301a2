package fakecodex

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// killed is the code that stands for SIGKILL, as in a shell.
const killed = 137

// fatal ends the process as a crash of codex would.
func fatal(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	if code == killed {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	os.Exit(code)
}

// forever waits until somebody ends the process. A bare select would be
// reported as a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}
