// Package place is where the commands of a conversation run when that is not this machine: what the driver wants of
// those machines. codex carries the commands there by its remote environments.
package place

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
)

// Machines are where conversations can have a place. Their methods may be called concurrently.
type Machines interface {
	// Take returns a place for a turn of a conversation, whose machine is known to be there; it is to be left again. Where
	// there is none, the error is a [NoneError].
	Take(ctx context.Context, conversation string, labels string) (Place, error)
	// Abandon says that a conversation waits for no place any more.
	Abandon(conversation string)
	// Reset ends all that runs for us on all machines, as what codex has started ends with it.
	Reset(ctx context.Context)
}

// A Place is where one turn works: a folder of a conversation on a machine, and room there until it is left.
type Place interface {
	// On is the environment by which codex reaches the machine.
	On() Environment
	// Dir is the folder, as the machine names it.
	Dir() string
	// Within is where a folder of this machine, below the working directory, is there.
	Within(folder string) string
	// News is what the model, and the sender, are told of the files before the turn; mostly it is empty.
	News() string
	// Hint is what the model alone is told of the folder; mostly it is empty.
	Hint() string
	// Bring has the files of messages that a text names be there, and returns the text as it names them there.
	Bring(ctx context.Context, text string) (string, error)
	// Read opens a file below the folder, until the place is left: its content, its size, and when it was changed. It
	// returns a nil function where this machine has the folder, too.
	Read() func(ctx context.Context, path string) (content io.ReadCloser, size int64, changed time.Time, err error)
	// Lost ends when the machine is gone, or may be, or has lost what ran there, with a [LostError].
	Lost() context.Context
	// Stands waits until it is known whether the machine has lost what ran there until now: nil, or a [LostError]. Where
	// that is not known before ctx ends, it is taken not to have.
	Stands(ctx context.Context) error
	// Begin says that a turn of a thread of codex's begins.
	Begin(threadID string)
	// Commands are those of us that run on the machine.
	Commands(ctx context.Context) ([]commands.Command, error)
	// End ends those that still are what they were.
	End(ctx context.Context, all []commands.Command) error
	// Leave gives the place back. What has changed in the folder is kept under a title.
	Leave(title string)
}

// An Environment is one of codex's remote environments.
type Environment struct {
	Machine string // its name
	ID      string // by which codex knows it
	URL     string // on loopback
	Token   string
}

// A NoneError says that there is no place for a turn now.
type NoneError struct {
	Why     string          // and on which machines, in words
	Changed <-chan struct{} // has a word, or is closed, when it is worth asking again; nil if it never is
	Until   time.Time       // after which it is not waited for any longer
}

func (e *NoneError) Error() string { return e.Why }

// A LostError says that a machine is gone, and what that means for a turn on it.
type LostError struct {
	Machine string
	Why     string
}

func (e *LostError) Error() string { return fmt.Sprintf("machine %s: %s", e.Machine, e.Why) }
