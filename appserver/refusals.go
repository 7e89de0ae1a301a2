package appserver

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// codex gives all of its refusals the code -32600 and tells them apart by
// their text alone. The texts below were seen on 0.169.0.

// codeOverloaded is the code of a child that has too much to do.
const codeOverloaded = -32001

// refused returns the text of a refusal by the child.
func refused(err error) (string, bool) {
	rpc, ok := errors.AsType[*RPCError](err)
	if !ok {
		return "", false
	}
	return rpc.Message, true
}

func refusedWith(err error, texts ...string) bool {
	message, ok := refused(err)
	if !ok {
		return false
	}
	for _, text := range texts {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// IsThreadGone reports whether the call was refused because its thread is not
// loaded in the child. [Client.ThreadResume] may bring it back.
func IsThreadGone(err error) bool {
	return refusedWith(err, "thread not found", "thread not loaded")
}

// IsNoRollout reports whether a resume was refused because nothing of the thread
// is on disk: no turn of it ever ran, or its file is gone. A codex that is killed
// within some 10 ms of the first turn/start leaves the file empty ("failed to read
// session metadata …: rollout at … is empty", code -32603).
func IsNoRollout(err error) bool {
	return refusedWith(err, "no rollout found") || refusedWith(err, "rollout at") && refusedWith(err, "is empty")
}

// isArchived reports whether a resume was refused because the thread is archived.
func isArchived(err error) bool { return refusedWith(err, "is archived") }

// IsActiveWriter reports whether a resume was refused because another process
// has the thread open, or this one is about to close it. It goes away with that.
func IsActiveWriter(err error) bool {
	return refusedWith(err, "already has an active writer", "is closing")
}

// IsHeldUp reports whether a thread was refused because another process has kept the lock
// that codex takes for each of them.
func IsHeldUp(err error) bool {
	return refusedWith(err, "timed out waiting for the thread writer coordination lock")
}

// IsBadConfig reports whether a thread was refused because codex cannot read its
// configuration. The thread is all right, and can be had once that is corrected.
func IsBadConfig(err error) bool {
	return refusedWith(err, "failed to load configuration") && !IsOtherProvider(err)
}

// IsWithoutServer reports whether a thread was refused because an MCP server did not start that
// the user's configuration calls required. The thread is all right, and can be had once it starts.
func IsWithoutServer(err error) bool {
	return refusedWith(err, "required MCP servers failed to initialize")
}

// IsPassing reports whether a call was refused because of the machine and not of a thread: it lacks
// something, such as files that a process may have open, memory, or room on a disk, or it does not let
// codex have a file, or another process has one of codex's databases. codex quotes the system, or
// SQLite, for it.
func IsPassing(err error) bool {
	system := systemCode(err)
	return slices.Contains(passingInSQLite, sqliteCode(err)) || system != 0 && !slices.Contains(lastingInSystem, system)
}

// lastingInSystem are what the system says of a file that is not there, or is none: ENOENT, ENOTDIR,
// EISDIR, EINVAL, ENAMETOOLONG and ELOOP of Linux.
var lastingInSystem = []int{2, 20, 21, 22, 36, 40} //nolint:gochecknoglobals // a constant

// systemCode is the error of the system's that codex quotes; 0 if it quotes none.
func systemCode(err error) (code int) {
	message, _ := refused(err)
	_, quoted, _ := strings.Cut(message, "(os error ")
	quoted, _, _ = strings.Cut(quoted, ")")
	code, _ = strconv.Atoi(quoted)
	return code
}

// passingInSQLite are busy, locked, no memory, an error of the disk, a full one, and a file that cannot
// be opened.
var passingInSQLite = []int{5, 6, 7, 10, 13, 14} //nolint:gochecknoglobals // a constant

// sqliteCode is the primary one of SQLite's that codex quotes; 0 if it quotes none.
func sqliteCode(err error) int {
	message, _ := refused(err)
	_, quoted, _ := strings.Cut(message, "(code: ")
	quoted, _, _ = strings.Cut(quoted, ")")
	code, _ := strconv.Atoi(quoted)
	return code & 0xff
}

// IsOtherProvider reports whether a resume was refused because the thread was begun
// with another model provider. It can be forked (seen on 0.169.0).
func IsOtherProvider(err error) bool {
	return refusedWith(err, "this thread's model provider", "uses model provider", "but your current provider is")
}

// IsNoActiveTurn reports whether a steer or an interrupt came when no turn was
// running on the thread.
func IsNoActiveTurn(err error) bool { return refusedWith(err, "no active turn") }

// isNotMaterialized reports whether the history of a thread was refused
// because the thread had no user message yet.
func isNotMaterialized(err error) bool { return refusedWith(err, "is not materialized yet") }

// IsOverloaded reports whether the child refused because it has too much to
// do; the call had no effect and may be tried again a little later.
func IsOverloaded(err error) bool {
	rpc, ok := errors.AsType[*RPCError](err)
	return ok && rpc.Code == codeOverloaded
}

// staleTurn has two spellings: turn/steer puts the ids in backticks and
// turn/interrupt does not.
var staleTurn = regexp.MustCompile("expected active turn id `?([^`\\s]+)`? but found `?([^`\\s]+?)`?(?:[\\s.]|$)")

// StaleTurn reports whether a steer or an interrupt was refused because
// another turn than the named one is running, and which one that is.
func StaleTurn(err error) (found string, ok bool) {
	message, ok := refused(err)
	if !ok {
		return "", false
	}
	match := staleTurn.FindStringSubmatch(message)
	if match == nil {
		return "", false
	}
	return match[2], true
}
