package platform

import (
	"bytes"
	"errors"
	"os"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// Why [Close] leaves a file as it is.
var (
	errOthers  = errors.New("it is a link, or another user's")
	ErrWritten = errors.New("it is being written")
)

// Close puts a file of the same text, which this process's user alone reads, in the place of one
// that holds a token, and is its own or root's. A link, and another user's, stay: a program that renews
// those looks for them where they are.
func Close(file string) error {
	was, err := os.Lstat(file)
	if err != nil {
		return err
	}
	stat, ok := was.Sys().(*syscall.Stat_t)
	if !was.Mode().IsRegular() || !ok || stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return errOthers
	}
	text, err := regular.Read(file, mostToken)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return ErrWritten
	}
	return whole.WriteIf(file, text, 0o600, func() error {
		now, err := os.Lstat(file)
		if err == nil && (!os.SameFile(was, now) || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime())) {
			return ErrWritten
		}
		return err
	})
}
