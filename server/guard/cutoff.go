package guard

import "errors"

// A CutOffError ends a call because the server stops. Most callers are told so. A platform
// that waits for a Message takes for done what is answered, and keeps what meets a broken
// connection, to send it again.
type CutOffError struct {
	error
	Silent bool // the connection is closed in place of an answer
}

func (e CutOffError) Unwrap() error { return e.error }

// ErrShutdown is the cause of the contexts of the requests that were still open
// when the server ran out of patience.
var ErrShutdown = errors.New("server is shutting down")
