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

// A Protocol is what of a codex's protocol the driver uses.
type Protocol struct {
	Used    map[string]string // what each thing that is used may be, by its name in the words of codex's protocol
	Missing []Missing
}

// ReadProtocol reads that of a codex. The files are those that it writes of itself:
// `codex app-server generate-json-schema --experimental`.
func ReadProtocol(files fs.FS) (Protocol, error) {
	read, err := appserver.ReadProtocol(files)
	p := Protocol{Used: read.Used}
	for _, m := range read.Missing {
		p.Missing = append(p.Missing, Missing(m))
	}
	return p, err
}
