package worktree

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// What callers tell apart.
var (
	ErrNoGit        = errors.New("there is no git on the PATH: install it (Debian and Ubuntu: apt-get install git)")
	ErrForeign      = errors.New("it is there and was not made by this program: name another folder, or move it away")
	ErrDamaged      = errors.New("the repository is damaged: move it away, and it is made anew; its branches are those that others have")
	ErrNoRepository = errors.New("it is no git repository")
	ErrNoCommit     = errors.New("there is no commit in it")
	ErrNoBranch     = errors.New("there is no such branch")
	ErrNothing      = errors.New("there is nothing that the other side does not have")
	ErrMissing      = errors.New("it builds on commits that are not here: ask for a bundle without what is not here")
	ErrInvalid      = errors.New("it is no whole git bundle of that branch")
	ErrTooLarge     = errors.New("it is larger than may be")
	ErrDirty        = errors.New("there are changes that are in no commit: commit them, or say that they are to be discarded")
	ErrBehind       = errors.New("the branch was moved and the files were not: reset the tree first")
	ErrElsewhere    = errors.New("the branch has its tree in another folder: remove that tree first")
	ErrFull         = errors.New("the disk is full: make room")
	ErrLocked       = errors.New("another git is at work there, or has left a lock: end it, or remove the file")
)

// A GitError is a command of git that failed.
type GitError struct {
	Command string // its name, without what it was given
	Code    int    // -1 if a signal has ended it
	Line    string // the last line that it has said
	cause   error
	said    string
}

func (e *GitError) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("git %s: %v (%s)", e.Command, e.cause, e.Line)
	}
	return fmt.Sprintf("git %s: %s", e.Command, brief.Or(e.Line, fmt.Sprintf("it ended with %d and has said nothing", e.Code)))
}

// Unwrap is what is known of the cause: [ErrFull], for one.
func (e *GitError) Unwrap() error { return e.cause }

// mostLine is how much of git's last line is told.
const mostLine = 400

func failure(command string, code int, said string) *GitError {
	e := &GitError{Command: command, Code: code, said: said, Line: lastLine(said)}
	switch {
	case strings.Contains(said, "No space left on device"), strings.Contains(said, "Disk quota exceeded"), strings.Contains(said, "File too large"):
		e.cause = ErrFull
	case lockIn(said) != "":
		e.cause = ErrLocked
	}
	return e
}

// lastLine picks the last line that says something: the last fatal one, where there is one.
func lastLine(said string) string {
	last := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "hint:"):
		case strings.HasPrefix(last, "fatal:") && !strings.HasPrefix(line, "fatal:"):
		default:
			last = line
		}
	}
	return brief.Line(brief.Plain(last), mostLine)
}

var lockFile = regexp.MustCompile(`Unable to create '([^'\n]+\.lock)': File exists`)

// lockIn returns the lock that was in git's way, if that is what it has said.
func lockIn(said string) string {
	if found := lockFile.FindStringSubmatch(said); found != nil {
		return found[1]
	}
	return ""
}

// said is all that git has said of a failure, as far as it was kept.
func saidIn(err error) string {
	if e, ok := errors.AsType[*GitError](err); ok {
		return e.said
	}
	return ""
}

// codeOf is what git has ended with; 0 for what is no failure of git's.
func codeOf(err error) int {
	if e, ok := errors.AsType[*GitError](err); ok {
		return e.Code
	}
	return 0
}
