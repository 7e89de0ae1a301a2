package preflight

import (
	"os"

	"golang.org/x/sys/unix"
)

// unnamed makes a file that never has a name, so that nothing is left in a work
// directory by a process that is killed here. Where the file system has none of those,
// or refuses it, a file is made in the other way.
func unnamed(dir string) (*os.File, error) {
	if f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o600); err == nil {
		return f, nil
	}
	return nameless(dir)
}
