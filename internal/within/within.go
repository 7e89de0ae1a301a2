// Package within tells where a path leads: whether it lies below a directory, whatever
// symbolic links are on the way.
package within

import (
	"path/filepath"
	"slices"
	"strings"
)

// Dir reports whether path is dir or lies below it, with symbolic links followed. Neither
// has to exist.
func Dir(dir, path string) bool {
	rel, err := filepath.Rel(Real(dir), Real(path))
	return err == nil && filepath.IsLocal(rel)
}

// Real is path without symbolic links, as far as it exists.
func Real(path string) string {
	path = filepath.Clean(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(Real(parent), filepath.Base(path))
}

// Outside returns the entries of a PATH that lead neither below dir nor to wherever a
// program is started.
func Outside(dir, path string) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(entry string) bool {
		return !filepath.IsAbs(entry) || Dir(dir, entry)
	})
	return strings.Join(entries, string(filepath.ListSeparator))
}
