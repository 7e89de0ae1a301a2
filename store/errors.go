package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
)

// What is asked for may not be there, or be there already.
var (
	ErrUnknown = errors.New("not in the store")
	ErrExists  = errors.New("already in the store")
	ErrBegun   = errors.New("already begun")
	ErrInUse   = errors.New("in use")
	ErrClosed  = errors.New("the store is closed")
)

// The file or the disk may be unfit. Errors that wrap these name the path and
// say what to do.
var (
	ErrFull     = errors.New("no room left")
	ErrCorrupt  = errors.New("the database is damaged")
	ErrReadOnly = errors.New("cannot be written")
	ErrNewer    = errors.New("the database was written by a newer version")
	ErrReplaced = errors.New("was removed or replaced while it was in use")
)

// A LockedError says that another process uses the state directory.
type LockedError struct {
	Dir   string
	Host  string
	PID   int
	Since time.Time
	What  string   // the command that it is, such as channel; empty if that is not known
	Holds []string // the workspaces that it works for; empty if that is not known
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("state directory %s is in use by another process: stop it, or choose another directory", e.Dir)
	}
	what := ""
	if e.What != "" {
		what = " (runtime " + e.What + ")"
	}
	return fmt.Sprintf("state directory %s is in use by process %d%s on %s since %s: stop it, or choose another directory",
		e.Dir, e.PID, what, e.Host, e.Since.Format(time.RFC3339))
}

// resultCode returns the extended result code of SQLite. For errors that are not
// SQLite's it is one that says nothing.
func resultCode(err error) sqlite.ResultCode { return sqlite.ErrCode(err) }

// explain turns SQLite's verdict about a file into one of the package's errors.
// Others are returned as they are.
func explain(path string, err error) error {
	code := resultCode(err)
	switch primary := code.ToPrimary(); {
	// A quota and a limit on the size of files are not "full" to SQLite.
	case primary == sqlite.ResultFull, code == sqlite.ResultIOErrWrite:
		return fmt.Errorf("%s: %w: free some space on its disk (%w)", path, ErrFull, err)
	case primary == sqlite.ResultCorrupt, primary == sqlite.ResultNotADB, code == sqlite.ResultIOErrShortRead:
		return damaged(path, err)
	case primary == sqlite.ResultReadOnly, primary == sqlite.ResultCantOpen, primary == sqlite.ResultPerm:
		return readOnly(path, err)
	case primary == sqlite.ResultBusy:
		return fmt.Errorf("%s: another program has the database open, end it: %w", path, err)
	}
	return err
}

func damaged(path string, cause error) error {
	return fmt.Errorf("%s: %w: restore it from a copy, or move it away to start without its tasks (%w)", path, ErrCorrupt, cause)
}

func readOnly(path string, cause error) error {
	return fmt.Errorf("%s: %w: make the state directory writable for this user, or choose another (%w)", path, ErrReadOnly, cause)
}

// fileError is explain for what the system says about a file.
func fileError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		return fmt.Errorf("%s: %w: free some space on its disk (%w)", path, ErrFull, err)
	case errors.Is(err, os.ErrPermission), errors.Is(err, unix.EROFS):
		return readOnly(path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// ruinous reports whether err may have ended the whole transaction that it came up in.
func ruinous(err error) bool {
	switch resultCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultNoMem, sqlite.ResultBusy,
		sqlite.ResultInterrupt, sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultReadOnly:
		return true
	}
	return false
}

// taken reports whether err says that a unique value is in use.
func taken(err error) bool {
	code := resultCode(err)
	return code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey
}
