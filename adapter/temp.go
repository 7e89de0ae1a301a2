package adapter

import (
	"slices"
)

// A Temp is where codex and its commands have their temp directories; empty, both have that of
// [Launch.Environ].
//
// There are two because codex hands its own TMPDIR on to what it starts outside of its sandbox:
// MCP servers, hooks and the program of notify. Many programs keep there, by a name that can be
// foretold, what they run the next time (tsx, node's compile cache, what PyInstaller packs), and
// commands could put something else in its place.
type Temp struct {
	Commands string // TMPDIR of commands, writable in their sandbox
	Codex    string // TMPDIR of codex, and of what it starts outside of the sandbox
	Guard    string // writable, too; has the first keep what patches must not write ([Temp.KeepRegister])
}

// Roots are the directories that are writable in the sandbox.
func (t Temp) Roots() []string {
	return slices.DeleteFunc([]string{t.Commands, t.Guard}, func(dir string) bool { return dir == "" })
}

// env is codex's environment.
func (t Temp) env(env []string) []string {
	if t.Codex == "" {
		return env
	}
	return append(without(env, "TMPDIR"), "TMPDIR="+t.Codex)
}
