//go:build !linux

package store

// networkFileSystem is known on Linux only.
func networkFileSystem(string) string { return "" }
