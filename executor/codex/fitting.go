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
type Missing struct {
	What   string // in the words of codex's protocol
	Lesser string // what is done less for it; empty where no turn can do without
}

// MissingIn returns what the protocol of a codex does not have. The files are those that it writes of
// it: `codex app-server generate-json-schema --experimental`.
func MissingIn(files fs.FS) ([]Missing, error) {
	protocol, err := appserver.ReadProtocol(files)
	all := make([]Missing, len(protocol.Missing))
	for i, m := range protocol.Missing {
		all[i] = Missing(m)
	}
	return all, err
}
