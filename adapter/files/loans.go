package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// Loans are copies of files, for codex to read by their paths. What stands under the
// working directory commands can replace at any moment: by a pipe, which codex would wait
// at, or by something else than was looked at. So codex is given a copy, in a folder that
// commands do not write in the sandbox, for as long as a turn runs.
type Loans struct {
	dir  string
	user *asuser.User
	room func(bytes int64) error
}

// NewLoans returns the copies in a folder that is theirs alone. It is made with the first
// of them; what a process that was killed has left there is removed. User is that of
// [Config], room is asked for the disk of the folder; nil is not asked.
func NewLoans(dir string, user *asuser.User, room func(bytes int64) error) (*Loans, error) {
	l := &Loans{dir: dir, user: user, room: room}
	return l, l.Close()
}

// Close removes the folder.
func (l *Loans) Close() error {
	return l.user.Do(func() error { return remove.All(l.dir) })
}

// A Source is what a copy is made of.
type Source interface {
	io.Reader
	io.ReaderAt
}

// Lend makes a copy of so many bytes at most, if fit has nothing against them. Fit is asked
// of the source, whose digest is not known and "", so that what is not fit takes no disk,
// and of the copy, since the source can change; digest is that of [File.Digest]. The copy
// stays until it is given back. The end of ctx ends it before it is whole.
func (l *Loans) Lend(ctx context.Context, source Source, name string, most int64, fit func(content io.ReaderAt, digest string) error) (path string, size int64, err error) {
	if err := fit(source, ""); err != nil {
		return "", 0, err
	}
	path = filepath.Join(l.dir, randomHex()[:16]+extension(name)) // no other word of the name: codex shows the model this path
	err = l.user.Do(func() error {
		if err := os.Mkdir(l.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		digest, written, err := copied(file, &canceled{ctx, source}, min(most, MaxBytes), l.room)
		if err == nil {
			err = fit(file, digest)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(path)
		}
		size = written
		return err
	})
	return path, size, err
}

// A canceled reader ends with its context.
type canceled struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader].
func (c *canceled) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.from.Read(b)
}

// GiveBack removes a copy.
func (l *Loans) GiveBack(path string) {
	_ = l.user.Do(func() error { return os.Remove(path) }) // the next start gets what this does not
}

// copied writes so many bytes at most, if the disk has room for them, and returns their
// digest.
func copied(to io.Writer, from io.Reader, most int64, room func(bytes int64) error) (digest string, size int64, err error) {
	from = io.LimitReader(from, most+1)
	if room != nil {
		if err := room(0); err != nil {
			return "", 0, err
		}
		from = &roomy{from, room, most}
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(to, sum), from)
	if err == nil && size > most {
		err = ErrTooLarge
	}
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// extension is that of a picture's name, if it is one of the usual.
func extension(name string) string {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return ext
	}
	return ""
}
