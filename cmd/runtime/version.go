package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// version is set by the linker, and so is moduleSum in a release: what Go calls the sum of
// the module's source.
var (
	version   = "dev"
	moduleSum string //nolint:gochecknoglobals // the linker's
)

// A versionReport is what runtime version --json prints.
type versionReport struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit,omitempty"`
	Go        string   `json:"go"`
	Platform  string   `json:"platform"`
	Codex     string   `json:"codex"`     // the version that the runtime is made for
	Protocols []string `json:"protocols"` // of A2A
}

func versions() versionReport {
	r := versionReport{
		Version:   version,
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		Codex:     codex.Pinned(),
		Protocols: []string{string(a2a.Version), string(a2av0.Version)},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	if v := info.Main.Version; r.Version == "dev" && v != "" && v != "(devel)" {
		r.Version = v // go install
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			r.Commit = s.Value
		}
	}
	return r
}

// ownRelease is the release that this program is of, if it is of one.
func ownRelease() connect.Release {
	sum := moduleSum
	if info, ok := debug.ReadBuildInfo(); ok && sum == "" {
		sum = info.Main.Sum // go install
	}
	return connect.ReleaseOf(versions().Version, sum)
}

func (p *program) version(asJSON bool) int {
	r := versions()
	if asJSON {
		return p.printJSON(r)
	}
	commit := ""
	if r.Commit != "" {
		commit = ", commit " + r.Commit
	}
	p.print(fmt.Sprintf("runtime %s (%s, %s%s)\ncodex %s\nA2A %s\n",
		r.Version, r.Go, r.Platform, commit, r.Codex, strings.Join(r.Protocols, ", ")))
	return exitOK
}
