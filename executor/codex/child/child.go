package child

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A Child is one run of codex app-server.
type Child struct {
	*appserver.Client
	Launch Launch    // how it was started
	Began  time.Time // its start
	Lately Sides     // threads that it has been told to unload

	useful     atomic.Bool  // a turn ended on it, so its death does not lengthen the backoff
	reason     atomic.Value // string: why we killed it, if we did
	credential atomic.Pointer[string]
	passed     atomic.Bool // it is to be started anew, for another credential
	patience   time.Duration
	log        *slog.Logger
}

// Settled returns err, after the child's end if that is what err reports: a
// child whose output has ended is dead, but it may not have been reaped yet.
func (c *Child) Settled(err error) error {
	if _, ended := errors.AsType[*appserver.ExitError](err); ended {
		<-c.Done()
	}
	return err
}

// Gone reports whether it has ended.
func (c *Child) Gone() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// ReasonDeaf is why a child that answers nothing is restarted.
const ReasonDeaf = "does not answer"

// reasonHeldUp is why a child is restarted of which another process holds the locks.
const reasonHeldUp = "held up"

// Restart ends the child because of reason; the supervisor starts the next.
func (c *Child) Restart(reason string) {
	c.reason.CompareAndSwap(nil, reason)
	c.Kill()
}

// Proven notes that a turn has ended on it, and reports whether that is the first.
func (c *Child) Proven() (first bool) { return !c.useful.Swap(true) }

// Whose is the credential that it has read, by what [Config.Prepare] or a login called it; empty if there is none.
func (c *Child) Whose() string {
	if read := c.credential.Load(); read != nil {
		return *read
	}
	return ""
}

// Given notes that it has been given another credential.
func (c *Child) Given(credential string) { c.credential.Store(&credential) }

// Adopt notes a credential that has appeared where none was, and reports whether it has.
func (c *Child) Adopt(credential string) bool {
	read := c.credential.Load()
	return (read == nil || *read == "") && c.credential.CompareAndSwap(read, &credential)
}

// Pass notes that it is to be started anew, for another credential, and reports whether that is news.
func (c *Child) Pass() (first bool) { return c.passed.CompareAndSwap(false, true) }

// Oversized is a file of instructions that is too large for codex to read it for turns in a
// folder; empty if there is none.
func (c *Child) Oversized(dir string) string {
	if c.Launch.Oversized == nil {
		return ""
	}
	return c.Launch.Oversized(dir)
}

// Unreadable says why no conversation must be loaded now; empty if nothing is in the way.
func (c *Child) Unreadable() string {
	if c.Launch.Unreadable == nil {
		return ""
	}
	return c.Launch.Unreadable()
}
