//go:build linux && !race

package codexlog

import "golang.org/x/sys/unix"

// mostMemory is what a process may have of private memory. Of that the Go runtime counts
// 110 MiB for itself, most of which it never touches. A log of 80 MiB takes 6 MiB more,
// whatever its size, and the names of 100,000 threads 60 MiB.
const mostMemory = 256 << 20

// limitMemory is for the rest of this process's life.
func limitMemory() error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: mostMemory, Max: mostMemory})
}
