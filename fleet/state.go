package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A State is how a machine stands.
type State string

// The states of a machine.
const (
	Unknown State = "unknown" // it has not been heard yet
	Up      State = "up"
	Doubted State = "doubted" // the connection has broken; what runs there may go on
	Lost    State = "lost"    // it has ended, or was silent for too long
	Refused State = "refused" // something is there, and does not let us in, or is not the machine
)

const (
	// deadTime is for how long a machine refuses connections until it is taken for dead: a process that is started
	// anew by its host is back later than this, and with nothing of what ran.
	deadTime = time.Second
	// silentTime is for how long nothing is heard until a machine is taken for lost. It is less than the machine's own
	// time, so that no turn goes on there which is said to have been ended.
	silentTime = wire.Silence - 500*time.Millisecond
	// handover is how long codex's connections are kept after a loss, so that turns are ended before codex tells the model
	// that a command has failed.
	handover = 250 * time.Millisecond
)

// A stay is the time for which what runs on a machine goes on.
type stay struct {
	life  string
	exec  int
	epoch int64
	ctx   context.Context // ends with a [place.LostError]
	end   context.CancelCauseFunc

	mu      sync.Mutex // guards folders
	folders map[string]wire.Place
}

// opened is a place that was opened in it.
func (s *stay) opened(id string) (wire.Place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, is := s.folders[id]
	return at, is
}

func (s *stay) open(id string, at wire.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders[id] = at
}

func newStay(of wire.Status, epoch int64) *stay {
	s := &stay{life: of.Life, exec: of.Exec, epoch: epoch, folders: map[string]wire.Place{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	return s
}

// goesOn reports whether what a machine says is of the same stay. An exec-server that is the first of its life was not
// there for anything to be lost with.
func (s *stay) goesOn(now wire.Status, epoch int64) bool {
	return s.ctx.Err() == nil && s.life == now.Life && s.epoch == epoch && (s.exec == now.Exec || s.exec == 0)
}

func (s *stay) close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.folders, id)
}

// why a machine is not to be had, in words, by the error that its watch has ended with.
func why(err error) (state State, words string) {
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if asked, is := errors.AsType[*url.Error](err); is {
		err = asked.Err
	}
	switch refused, isRefused := errors.AsType[*client.RefusedError](err); {
	case isUntrusted:
		return Refused, fmt.Sprintf("its certificate is not trusted (%v): put its fingerprint behind a # into RUNTIME_MACHINES, as runtime machine prints it, or have RUNTIME_MACHINES_CA name what has signed it", untrusted.Err)
	case errors.Is(err, roster.ErrFingerprint):
		return Refused, err.Error() + ": if it has made a new one, take the line that it prints at its start; else something stands in between"
	case isRefused && refused.Code == wire.CodeToken:
		return Refused, "it does not take the token: RUNTIME_MACHINES_TOKEN, or what is in RUNTIME_MACHINES_TOKEN_FILE, must be what runtime machine token prints there"
	case isRefused:
		return Refused, "it refuses: " + refused.Message
	case errors.Is(err, syscall.ECONNREFUSED):
		return Lost, "it has ended: it takes no connections"
	}
	return Lost, fmt.Sprintf("it cannot be reached, and has not been heard for %v. Whether a command still runs there is not known; it ends what runs for this runtime when it has not heard from it for %v, and before it takes anything else from it", silentTime, wire.Silence)
}

// lost is why a turn on a machine has been cut off.
func lost(machine, words string) error { return &place.LostError{Machine: machine, Why: words} }
