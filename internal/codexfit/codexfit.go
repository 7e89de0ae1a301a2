// Package codexfit says whether the codex at hand does what the runtime needs of it. It goes by what that says
// of its protocol, and not by its version: a newer one runs where it holds what is used. The versions that
// were tried are known, so that people hear where they are on their own.
package codexfit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// A Fit looks at one codex, once for each version and file that it finds in its place. Its methods may be
// called concurrently.
type Fit struct {
	program preflight.Program
	temp    string // where it may make folders for a moment

	looks chan struct{} // has room for one look at a time, which all who ask share
	found Found         // by the look before, as is of
	of    identity      // the zero one is nothing
	until time.Time     // when what could not be looked at is looked at again; zero where it could
}

// doubtLasts is how long a codex that could not be looked at is not looked at again: it may be one that takes its
// time each time.
const doubtLasts = 5 * time.Minute

// New returns a fit that has looked at nothing yet. The temp directory is one that the program's user can write; empty is
// the one of all.
func New(program preflight.Program, temp string) *Fit {
	return &Fit{program: program, temp: temp, looks: make(chan struct{}, 1)}
}

// Found is what a codex was found to be.
type Found struct {
	Version string
	Missing []codex.Missing
	Err     error // why it is not known what is missing
}

// identity tells one installed codex from the next. A launcher stays the same file when what it launches is
// another, and an update of one version need not change its number.
type identity struct {
	version  string
	dev, ino uint64
	size     int64
	modified time.Time
}

func (f *Fit) identify(version string) (id identity) {
	info, err := os.Stat(f.program.Bin)
	if err != nil {
		return identity{}
	}
	id = identity{version: version, size: info.Size(), modified: info.ModTime()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		id.dev, id.ino = uint64(stat.Dev), stat.Ino //nolint:unconvert // Dev is signed on some systems
	}
	return id
}

// Look says what the codex of a version, that was just asked for it, is.
func (f *Fit) Look(ctx context.Context, version string) Found {
	select {
	case f.looks <- struct{}{}:
		defer func() { <-f.looks }()
	case <-ctx.Done():
		return Found{Version: version, Err: context.Cause(ctx)}
	}
	id := f.identify(version)
	if id != (identity{}) && id == f.of && (f.until.IsZero() || time.Now().Before(f.until)) {
		return f.found
	}
	missing, err := f.read(ctx)
	found := Found{Version: version, Missing: missing, Err: err}
	f.found, f.of, f.until = found, id, time.Time{}
	switch {
	case ctx.Err() != nil: // it has not come to its end
		f.of = identity{}
	case err != nil:
		f.until = time.Now().Add(doubtLasts)
	}
	return found
}

// read has codex describe itself, and reads that.
func (f *Fit) read(ctx context.Context) (missing []codex.Missing, err error) {
	user := f.program.User
	dir, err := asuser.Value(user, func() (string, error) { return os.MkdirTemp(f.temp, "runtime-codex-") })
	if err != nil {
		return nil, err
	}
	defer func() { _ = user.Do(func() error { return remove.All(dir) }) }()
	described := f.program
	described.Env = append(slices.Clone(described.Env), "CODEX_HOME="+dir) // where it makes folders, too
	folder := filepath.Join(dir, "schema")
	if err := described.Describe(ctx, folder); err != nil {
		return nil, err
	}
	protocol, err := asuser.Value(user, func() (codex.Protocol, error) { return codex.ReadProtocol(os.DirFS(folder)) })
	return protocol.Missing, err
}

// Verdict is what is found of the codex that is installed, for its start. What keeps one from starting at all is not
// said, and what is not known keeps none from it.
func (f *Fit) Verdict(ctx context.Context) codex.Verdict {
	version, why := f.program.Version(ctx)
	if why != "" {
		return codex.Verdict{}
	}
	v := codex.Verdict{Version: version, Note: Untried(version)}
	if broken := f.Look(ctx, version).broken(); broken != "" {
		v.Unfit = fmt.Sprintf("codex %s cannot be used: it does not have %s; %s", version, broken, Install())
	}
	return v
}

// Check is the check of a codex, for people and probes.
func (f *Fit) Check() preflight.Check {
	return preflight.Codex(f.program, Install(), func(ctx context.Context, version string) preflight.Result {
		return f.Look(ctx, version).result(f.program.Bin)
	})
}
