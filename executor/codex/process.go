package codex

import "github.com/Molecule-AI/molecule-codex-runtime/appserver"

// Pinned is the version of codex that the driver is made for.
func Pinned() string { return appserver.PinnedVersion() }
