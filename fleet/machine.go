package fleet

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A Machine is how the fleet asks a machine. Package fleet/client has it.
type Machine interface {
	// Watch tells how it stands until ctx ends, or the connection does, or it is silent for so long.
	Watch(ctx context.Context, silence time.Duration, tell func(wire.Status)) error
	Close()
	Drain(ctx context.Context, drain bool) error

	turns
	places
	wayThere
}

// turns are what is said of them.
type turns interface {
	Begin(ctx context.Context, turn string, what wire.Turn) error
	End(ctx context.Context, turn string) error
	Commands(ctx context.Context) ([]wire.Command, error)
	EndCommands(ctx context.Context, all []wire.Command) (left []wire.Command, err error)
}

// places are the folders of conversations.
type places interface {
	Place(ctx context.Context, place string, want wire.Want) (wire.Place, error)
	Forget(ctx context.Context, place string) error
	Absorb(ctx context.Context, place, head string, bundle io.Reader) (wire.Place, error)
	Commit(ctx context.Context, place string, what wire.Commit) (bundle io.ReadCloser, done wire.Committed, err error)
	Read(ctx context.Context, place, path string) (io.ReadCloser, wire.File, error)
	Write(ctx context.Context, place, path string, from io.Reader) error
}

// wayThere is how codex gets to it.
type wayThere interface {
	Dial(ctx context.Context) (net.Conn, error)
	Sign(r *http.Request)
}
