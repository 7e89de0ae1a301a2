// Package tryout tries a machine as a runtime uses it: it is reached, gives a place, and runs a command there, by the way and
// in the protocol that codex uses. Nothing of a trial is left on the machine: it comes as a runtime of its own, of which the
// machine ends all that runs when it is heard no more.
package tryout

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/link"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A Machine is what is tried; a [client.Client] is one.
type Machine interface {
	link.Dialer
	Watch(ctx context.Context, silence time.Duration, tell func(wire.Status)) error
	Place(ctx context.Context, place string, want wire.Want) (wire.Place, error)
}

// NewRuntime is an id for a trial. Another runtime with one of the same id would be ended by it.
func NewRuntime() string { return "trial-" + rand.Text() }

// A Want is what the machine is to do.
type Want struct {
	Files   string // what places it has to have: [wire.FilesShared] or [wire.FilesGit]
	Dir     string // of [wire.FilesShared]: where conversations work
	Sandbox string // read-only, workspace-write or danger-full-access
}

// A Found is what a machine has done.
type Found struct {
	Status wire.Status
	Dir    string // in which the command ran
	Ran    Ran
}

// A Stage is how far a trial came.
type Stage int

// The stages.
const (
	Reach   Stage = iota // the machine says how it stands
	Place                // it has a place
	Command              // it runs a command there
)

// An Error says at which stage a trial has failed.
type Error struct {
	At  Stage
	Err error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *Error) Unwrap() error { return e.Err }

// Try tries a machine until ctx ends. An error is an [*Error]; what was found before it is returned, too.
func Try(ctx context.Context, m Machine, want Want) (found Found, err error) {
	ctx, cancel := context.WithCancel(ctx)
	watched, first := make(chan error, 1), make(chan wire.Status, 1)
	go func() {
		watched <- m.Watch(ctx, wire.Silence, func(s wire.Status) {
			select {
			case first <- s:
			default: // the first is enough
			}
		})
	}()
	select {
	case found.Status = <-first:
		defer func() {
			if err := <-watched; err != nil {
				return // its end is what was wanted
			}
		}()
		defer cancel()
	case err := <-watched:
		cancel()
		return found, &Error{Reach, err}
	}
	if found.Dir, err = dir(ctx, m, found.Status, want); err != nil {
		return found, &Error{Place, err}
	}
	if found.Ran, err = run(ctx, m, found.Dir, want.Sandbox); err != nil {
		return found, &Error{Command, err}
	}
	return found, nil
}

// dir is a folder on the machine in which a command can be run.
func dir(ctx context.Context, m Machine, status wire.Status, want Want) (string, error) {
	if want.Files == wire.FilesShared {
		at, err := m.Place(ctx, "shared", wire.Want{Files: wire.FilesShared, Dir: want.Dir})
		return at.Dir, err
	}
	if len(status.Roots) == 0 {
		return "/", nil
	}
	return status.Roots[0], nil // a worktree would be something that is left
}

// run runs a command there, by the way that codex takes.
func run(ctx context.Context, m Machine, dir, sandbox string) (ran Ran, err error) {
	way, err := link.Listen(m, nil, "/v1/exec", slog.New(slog.DiscardHandler))
	if err != nil {
		return ran, err
	}
	defer way.Close()
	s, err := dial(ctx, way.URL(), way.Token())
	if err != nil {
		return ran, err
	}
	defer s.close()
	return s.run(ctx, dir, sandbox)
}
