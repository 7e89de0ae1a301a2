package appserver_test

import (
	"errors"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// TestIsPassing: in the words of codex 0.169.0.
func TestIsPassing(t *testing.T) {
	const failed, database = "failed to list thread history: thread-store internal error: ", "error returned from database: "
	for words, want := range map[string]bool{
		failed + "failed to open thread history DB at /h/x.sqlite: " + database + "(code: 14) unable to open database file": true,
		failed + database + "(code: 5) database is locked":                                                                  true,
		failed + database + "(code: 517) database is locked":                                                                true,
		failed + database + "(code: 1546) disk I/O error":                                                                   true,
		failed + database + "(code: 13) database or disk is full":                                                           true,
		failed + database + "(code: 26) file is not a database":                                                             false,
		failed + database + "(code: 5x)":                                                                                    false,
		"failed to read thread: Too many open files (os error 24)":                                                          true,
		"failed to open: Permission denied (os error 13)":                                                                   true,
		"failed to open: Read-only file system (os error 30)":                                                               true,
		"failed to read: Input/output error (os error 5)":                                                                   true,
		"failed to open: No such file or directory (os error 2)":                                                            false,
		"failed to read: Is a directory (os error 21)":                                                                      false,
		"no rollout found for thread id x":                                                                                  false,
	} {
		if got := appserver.IsPassing(&appserver.RPCError{Method: "thread/resume", Code: -32600, Message: words}); got != want {
			t.Errorf("%s: %v", words, got)
		}
	}
	if appserver.IsPassing(errors.New("(code: 5)")) {
		t.Error("an error that is no refusal passes")
	}
}
