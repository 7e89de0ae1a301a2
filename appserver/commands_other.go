//go:build !linux

package appserver

// Commands returns nothing: the environment of other processes cannot be read here.
func Commands(func(Command) bool) []Command { return nil }

// Kill does nothing.
func (c Command) Kill() error { return nil }
