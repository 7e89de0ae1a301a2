package appserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

var (
	// ErrClosed says that the child was ended by [Client.Close].
	ErrClosed = errors.New("closed by us")
	// ErrKilled says that the child was ended by [Client.Kill].
	ErrKilled = errors.New("killed by us")
	// ErrAnswered says that a [Request] was answered before.
	ErrAnswered = errors.New("the request has been answered")
	// ErrUnsubscribed says that a [Subscription] was closed, or replaced by a
	// later one of the same thread.
	ErrUnsubscribed = errors.New("the subscription has ended")

	errMute     = errors.New("it closed its output while it was running")
	errDeaf     = errors.New("it stopped reading its input")
	errBacklog  = errors.New("too much is waiting to be written: codex does not read its input")
	errNoAnswer = errors.New("initialize was not answered in time")
)

// A StartError reports a child that could not be started, or that did not
// answer initialize. Nothing of it is left.
type StartError struct {
	Bin    string
	Err    error
	Stderr string // the last words of the child, if there was one
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start %s app-server: %v%s%s", e.Bin, e.Err, startHint(e.Err), words(e.Stderr))
}

func (e *StartError) Unwrap() error { return e.Err }

// startHint says what to do about the errors that have one cause.
func startHint(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return " (is CODEX_BIN right, and the working directory there? make codex installs the pinned codex)"
	case errors.Is(err, os.ErrPermission):
		return " (is the file executable?)"
	}
	return ""
}

// An ExitError reports that the child ended, or had to be ended. It is the
// error of every call and every [Subscription.Next] pending at that moment,
// and of all that come later.
type ExitError struct {
	State  *os.ProcessState // how the process ended; nil if another process keeps it from being reaped
	Cause  error            // why it had to be ended; nil if it ended by itself
	Stderr string           // its last words
}

func (e *ExitError) Error() string {
	cause := ""
	if e.Cause != nil {
		cause = ": " + e.Cause.Error()
	}
	how := "and cannot be reaped, for another process traces it"
	if e.State != nil {
		how = fmt.Sprintf("(%v)", e.State)
	}
	return fmt.Sprintf("codex app-server ended %s%s%s", how, cause, words(e.Stderr))
}

func (e *ExitError) Unwrap() error { return e.Cause }

// words appends the last words of a child to an error text.
func words(stderr string) string {
	if stderr = strings.TrimSpace(stderr); stderr == "" {
		return ""
	}
	return ": stderr: " + stderr
}

// An RPCError is the child's refusal of a call. The child is alive, so the
// same call again would be refused again.
type RPCError struct {
	Method  string
	Code    int
	Message string
	Data    json.RawMessage // or nil
}

func (e *RPCError) Error() string {
	return fmt.Sprintf("%s: %.4096s (code %d)", e.Method, e.Message, e.Code) // an endpoint or a command may have worded it
}

// A TooLongError says that the answer to a call came in a line longer than
// [Config.MaxLine] and was dropped. The call itself was carried out.
type TooLongError struct {
	Bytes int64 // length of the line
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the answer was dropped: %d bytes are more than one line may have", e.Bytes)
}
