package appserver

import (
	_ "embed"
	"strings"
)

//go:embed CODEX_VERSION
var pinned string

// PinnedVersion returns the version of codex that this package was written
// for. The file CODEX_VERSION is the only place that names it.
func PinnedVersion() string { return strings.TrimSpace(pinned) }
