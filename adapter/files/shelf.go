package files

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A Shelf keeps copies of the files that tasks hand out, in a folder of the runtime's
// own that codex cannot write: what a reader gets are the bytes at the end of the turn,
// whatever became of the file since. Each copy stands in a folder of its task, under the
// hash of its token: this folder alone does not say how a copy is asked for. The tasks that
// hand it out do, and with them the state database and its backups.
//
// A Shelf may be used concurrently.
type Shelf struct {
	// Room returns why the disk has no room for so many bytes; nil is not asked. It is to
	// be set before the first use.
	Room func(bytes int64) error
	// Aged is the time by which copies grow old; nil is that of the clock. It is to be set before the
	// first use.
	Aged func() time.Time

	dir  string
	most int64
	age  time.Duration

	mu   sync.Mutex // guards what is written and swept, and the field below
	used shelfUse
}

// A shelfUse is how many bytes are on a shelf.
type shelfUse struct {
	all   int64 // -1 until they are counted
	peers int64 // of tasks of other agents
}

func (u *shelfUse) add(bytes int64, peer bool) {
	u.all += bytes
	if peer {
		u.peers += bytes
	}
}

// NewShelf returns a shelf in a folder, which is made when it is needed. It takes so many
// bytes at most, and keeps nothing for longer than age.
func NewShelf(dir string, most int64, age time.Duration) *Shelf {
	return &Shelf{dir: dir, most: most, age: age, used: shelfUse{all: -1}}
}

// isOld reports whether a copy is kept no more.
func (s *Shelf) isOld(written time.Time) bool {
	now := time.Now
	if s.Aged != nil {
		now = s.Aged
	}
	return now().Sub(written) > s.age
}

// isPast reports whether a copy is not handed out any more: what it was handed out with names that
// time, and the clock may go before what is kept grows old.
func (s *Shelf) isPast(written time.Time) bool {
	return s.isOld(written) || time.Since(written) > s.age
}

// A Kept is a copy on a shelf.
type Kept struct {
	Ref     string // "<task>/<token>/<name>": the end of its URL
	Size    int64
	Expires time.Time
}

var (
	taskName  = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,127}$`)
	tokenText = regexp.MustCompile(`^[0-9A-Za-z_-]{43}$`)
)

// peerMark is a file in the folder of a task of another agent's.
const peerMark = "peer"

// Keep puts a copy of what content says onto the shelf, for the task of by. Where there is no
// room for it, the copies of the tasks that ended first are let go: where other agents would have
// more than their share, of theirs.
func (s *Shelf) Keep(by Owner, name string, size int64, content io.Reader) (Kept, error) {
	task := by.Task
	if !taskName.MatchString(task) {
		return Kept{}, fmt.Errorf("keep a file of the task %q: %w", clip(task, 64), ErrNotHere)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	room, err := s.makeRoomLocked(by, min(size, largestOffer))
	if err != nil {
		return Kept{}, err
	}
	root, err := s.open(task)
	if err != nil {
		return Kept{}, fmt.Errorf("open the folder of handed-out files: %w", err)
	}
	defer root.Close()
	if by.Peer {
		if err := root.WriteFile(peerMark, nil, 0o600); err != nil {
			return Kept{}, fmt.Errorf("mark the folder of handed-out files: %w", err)
		}
	}
	token := newToken()
	_, written, err := write(nil, root, digest(token)+"-"+sanitize(name), content, min(largestOffer, room), s.Room)
	if err != nil {
		return Kept{}, fmt.Errorf("keep a copy of %q: %w", clip(name, 64), err)
	}
	s.used.add(written.Size(), by.Peer)
	return Kept{Ref: task + "/" + token + "/" + url.PathEscape(sanitize(name)), Size: written.Size(), Expires: time.Now().Add(s.age)}, nil
}

// Open opens the copy that a task's token names. [ErrNotHere] says that there is none,
// or none any more.
func (s *Shelf) Open(task, token string) (*os.File, fs.FileInfo, error) {
	if !taskName.MatchString(task) || !tokenText.MatchString(token) {
		return nil, nil, ErrNotHere
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, nil, ErrNotHere
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), task)
	if err != nil {
		return nil, nil, ErrNotHere
	}
	want := []byte(digest(token))
	found := ""
	for _, entry := range entries {
		if have, _, ok := strings.Cut(entry.Name(), "-"); ok && subtle.ConstantTimeCompare([]byte(have), want) == 1 {
			found = entry.Name()
		}
	}
	if found == "" {
		return nil, nil, ErrNotHere
	}
	file, info, err := regular.OpenIn(root, task+"/"+found)
	switch {
	case err != nil:
		return nil, nil, ErrNotHere
	case s.isPast(info.ModTime()):
		return nil, nil, errors.Join(ErrNotHere, file.Close())
	}
	return file, info, nil
}

// ShelvedName is what a copy is called by its readers, and of which type it is.
func ShelvedName(info fs.FileInfo) (name, media string) {
	_, name, _ = strings.Cut(info.Name(), "-")
	return name, mediaOf(name)
}

// open opens the folder of a task, and makes it if it is not there.
func (s *Shelf) open(task string) (*os.Root, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(task, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return root.OpenRoot(task)
}

func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:16])
}
