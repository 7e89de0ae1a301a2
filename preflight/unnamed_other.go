//go:build !linux

package preflight

import "os"

// unnamed makes a file that loses its name at once.
func unnamed(dir string) (*os.File, error) { return nameless(dir) }
