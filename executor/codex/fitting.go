package codex

import (
	"io/fs"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// Pinned is the version of codex that the driver is made for.
func Pinned() string { return appserver.PinnedVersion() }

// Tried are the versions of codex that the driver was tried with, the oldest first.
func Tried() []string { return appserver.TriedVersions() }

// A Missing is something that a codex does not have and the driver uses.
type Missing = appserver.Missing

// A Protocol is what of a codex's protocol the driver uses.
type Protocol = appserver.Protocol

// ReadProtocol reads that of a codex. The files are those that it writes of itself:
// `codex app-server generate-json-schema --experimental`.
func ReadProtocol(files fs.FS) (Protocol, error) { return appserver.ReadProtocol(files) }
