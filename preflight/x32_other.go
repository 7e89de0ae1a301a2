//go:build !linux || !amd64

package preflight

// X32 has nothing to check: only Linux on amd64 has such system calls.
func X32() []Check { return nil }
