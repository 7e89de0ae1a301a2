package appserver

import (
	_ "embed"
	"strings"
)

// What the program does goes by what a codex says of itself ([ReadProtocol]), and its words by the versions in the two
// files beside this one. Package connect has the pinned one in the commands that install it.

//go:embed CODEX_VERSION
var pinned string

//go:embed CODEX_WINDOW
var window string

// PinnedVersion returns the version of codex that this package was written for.
func PinnedVersion() string { return strings.TrimSpace(pinned) }

// TriedVersions returns the versions that the tests were run with (make compat), the oldest first. The
// pinned one is among them.
func TriedVersions() (all []string) {
	for line := range strings.Lines(window) {
		if version, _, _ := strings.Cut(strings.TrimSpace(line), " "); version != "" && version != "#" {
			all = append(all, version)
		}
	}
	return all
}
