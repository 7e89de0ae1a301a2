//go:build !linux

package files

func pathOf(uintptr) string { return "" }
