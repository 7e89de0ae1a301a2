//go:build !linux

package appserver

import "context"

// Commands returns nothing: the environment of other processes cannot be read here.
func Commands(context.Context, func(Command) bool) []Command { return nil }

// Kill does nothing.
func (c Command) Kill() error { return nil }
