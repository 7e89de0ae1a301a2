package files

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// MaxBytes is how large a file may be, and all files of one upload together.
const MaxBytes = 100 << 20

// ErrTooLarge says that a file is larger than it may be.
var ErrTooLarge = errors.New("the file is too large")

// place is where the folder stands under the working directory.
const place = ".molecule/chat-uploads"

// partial begins the names of files that are not whole.
const partial = ".part-"

// Config describes a [Folder]. Work must be set; the zero value of everything else
// works.
type Config struct {
	Work     string   // the directory that codex works in
	Readable []string // roots that [Folder.Open] reads under, beside Work
	Hidden   []string // files and directories that are never handed out

	// Room returns why the disk of Work has no room for so many bytes; nil is not asked.
	Room func(bytes int64) error

	Log *slog.Logger // hears of what stood in the way; nil is silent

	User *asuser.User // that codex runs as, who puts files there and reads them; nil is ours

	Pending   Pending // fetches what the platform holds; nil leaves it there
	Workspace string  // whose pending files those are

	Guard  *netguard.Guard // says which URLs are followed; nil follows none
	client *http.Client
}

// A Folder holds the files of messages. Create it with [New].
type Folder struct {
	cfg  Config
	most int64
}

// New returns a folder. It makes nothing on the disk.
func New(cfg Config) *Folder {
	if cfg.Guard != nil {
		cfg.client = cfg.Guard.Client(fetchTimeout)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Folder{cfg: cfg, most: MaxBytes}
}

// Close lets go of idle connections.
func (f *Folder) Close() error {
	if f.cfg.client != nil {
		f.cfg.client.CloseIdleConnections()
	}
	return nil
}

// A File is one that stands on the disk.
type File struct {
	Path      string // absolute
	URI       string // workspace:/…
	Name      string // as its sender calls it
	MediaType string // "" if it is not known
	Size      int64
	Digest    string // SHA-256 in hex, if it was brought here now; else ""

	Staged bool // it was brought here with a message, and not used where it is
	Own    bool // it was brought with that message alone
}

// Add stores an upload under a random name.
func (f *Folder) Add(name, media string, content io.Reader, most int64) (File, error) {
	return f.put(randomHex()+"-"+sanitize(name), name, media, content, most)
}

// put writes a file under the name that it is stored by, whole or not at all.
func (f *Folder) put(stored, name, media string, content io.Reader, most int64) (File, error) {
	root, err := asuser.Value(f.cfg.User, f.open)
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	var file File
	err = f.cfg.User.Do(func() error {
		digest, size, err := write(root, stored, content, most, f.cfg.Room)
		file = f.file(stored, name, media, size)
		file.Digest = digest
		return err
	})
	if err != nil {
		return File{}, fmt.Errorf("store the file %q: %w", clip(name, 64), err)
	}
	return file, nil
}

func (f *Folder) file(stored, name, media string, size int64) File {
	path := filepath.Join(f.cfg.Work, place, stored)
	return File{Path: path, URI: "workspace:" + path, Name: cmp.Or(plainName(name), "file"), MediaType: media, Size: size}
}

// Remove takes away what Add has stored, as if it had never come.
func (f *Folder) Remove(stored ...File) {
	_ = f.cfg.User.Do(func() error { // the sweep gets what this does not
		root, err := f.openExisting()
		if err != nil {
			return err
		}
		for _, file := range stored {
			err = errors.Join(err, root.Remove(filepath.Base(file.Path)))
		}
		return errors.Join(err, root.Close())
	})
}

// write brings a file to the disk and then gives it its name. Before each piece it asks
// whether the disk has room for it; nil has.
func write(root *os.Root, stored string, content io.Reader, most int64, room func(int64) error) (digest string, size int64, err error) {
	temp := partial + randomHex()
	file, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", 0, err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(temp)
		}
	}()
	digest, size, err = copied(file, content, most, room)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", 0, err
	}
	if err = root.Rename(temp, stored); err != nil {
		return "", 0, err
	}
	return digest, size, syncRoot(root)
}

// A roomy reader reads what the disk has room for: what it has read is written at once.
type roomy struct {
	io.Reader
	room func(bytes int64) error
}

func (r *roomy) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		if full := r.room(int64(n)); full != nil {
			return 0, full
		}
	}
	return n, err
}

// syncRoot brings the names in a directory to the disk.
func syncRoot(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
