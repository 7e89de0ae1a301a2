// Package identity keeps what a machine is known by, in its state directory: an id, the token that is asked of runtimes,
// and a certificate. What is not there is made. Files are for the machine's own user.
package identity

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// A Config says where an identity is kept, and what the operator has of it.
type Config struct {
	Dir string // the state directory; it is made
	// Token is what runtimes have to show; empty for that in TokenFile, or for one that is made.
	Token     string
	TokenFile string
	// Cert and Key are files, in PEM; empty for a certificate that is made.
	Cert, Key string
	Names     []string // that a certificate which is made is for
	Logger    *slog.Logger
}

const (
	idFile    = "id"
	tokenFile = "token"
	certFile  = "cert.pem"
	keyFile   = "key.pem"
	// mostText is how much of a file is read.
	mostText = 64 << 10
	// leastToken is how many characters a token has that is not found by trying.
	leastToken = 16
)

// An Identity is what a machine is known by.
type Identity struct {
	ID        string // lasts as long as the state directory
	Token     *Token
	TokenFile string // where the token stands; empty if it stands in no file
	Cert      *Certificate
}

// Open reads the identity, and makes what is not there. The state directory is closed to other users.
func Open(cfg Config) (*Identity, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the state directory of the machine cannot be made: %w", err)
	}
	if err := closed(cfg.Dir, cfg.Logger); err != nil {
		return nil, err
	}
	making, err := alone(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer making.Close()
	id, err := text(filepath.Join(cfg.Dir, idFile), func() string { return strings.ToLower(rand.Text()) })
	if err != nil {
		return nil, err
	}
	if !anID.MatchString(id) {
		return nil, fmt.Errorf("%s does not have the id of a machine: remove it, and a new one is made", filepath.Join(cfg.Dir, idFile))
	}
	i := &Identity{ID: id}
	if i.Token, i.TokenFile, err = openToken(cfg); err != nil {
		return nil, err
	}
	if i.Cert, err = openCertificate(cfg); err != nil {
		return nil, err
	}
	return i, nil
}

var anID = regexp.MustCompile(`^[a-z0-9]{8,64}$`)

// alone has no other process make the same at the same time, until what it returns is closed.
func alone(dir string) (*os.File, error) {
	f, err := regular.Folder(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// closed keeps other users of this machine out of the directory, where it is ours.
func closed(dir string, log *slog.Logger) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if mode&0o066 == 0 {
		return nil
	}
	if err := os.Chmod(dir, mode&^0o066); err != nil {
		return fmt.Errorf("the state directory %s is open to other users of this machine: close it (chmod 700), or choose another (%w)", dir, err)
	}
	log.Warn("the state directory was open to other users of this machine, and is not any more", "dir", dir, "was", mode.String())
	return nil
}

// text returns what stands in a file, which is made if it is not there.
func text(path string, made func() string) (string, error) {
	held, err := regular.Read(path, mostText)
	if err == nil {
		return strings.TrimSpace(string(held)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	value := made()
	return value, whole.Write(path, []byte(value+"\n"), 0o600)
}
