package files

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// MaxBytes is how large a file may be, and all files of one upload together.
const MaxBytes = 100 << 20

// ErrTooLarge says that a file is larger than it may be.
var ErrTooLarge = errors.New("the file is too large")

// place is where the folder stands under the working directory.
const place = ".molecule/chat-uploads"

// Uploads is the folder under a working directory that has the files of messages.
func Uploads(work string) string { return filepath.Join(work, place) }

// partial begins the names of files that are not whole.
const partial = ".part-"

// Config describes a [Folder]. Work must be set; the zero value of everything else
// works.
type Config struct {
	Work     string   // the directory that codex works in
	Readable []string // roots that [Folder.Open] reads under, beside Work
	Hidden   []string // files and directories that are never handed out

	// As is what replies call Work, where a copy of a folder of elsewhere stands there. Fetch has a file be in Work that may be
	// asked for next, by its path below; what cannot be had is not there then. Nil fetches nothing.
	As    string
	Fetch func(path string)

	// Room returns why the disk of Work has no room for so many bytes; nil is not asked.
	Room  func(bytes int64) error
	Quota *Quota // bounds what stands in the folder; nil does not

	Log *slog.Logger // hears of what stood in the way; nil is silent

	User *asuser.User // that codex runs as, who puts files there and reads them; nil is ours

	Pending   Pending // fetches what the platform holds; nil leaves it there
	Workspace string  // whose pending files those are

	Guard   *netguard.Guard // says which URLs are followed; nil follows none
	Fetches *Fetches        // bounds what is fetched by them at a time; nil means one of its own
	client  *http.Client
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
	if cfg.Fetches == nil {
		cfg.Fetches = NewFetches()
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

	Staged bool   // it was brought here with a message, and not used where it is
	Own    bool   // it is that message's own
	Stored string // its name in the folder; "" if it stands elsewhere
	Peer   bool   // only other agents have it; known of what is held
}

// Add stores an upload under a random name.
func (f *Folder) Add(name, media string, content io.Reader, most int64) (File, error) {
	return f.put(randomHex()+"-"+sanitize(name), name, media, content, most, Owner{})
}

// put writes a file under the name that it is stored by, whole or not at all.
func (f *Folder) put(stored, name, media string, content io.Reader, most int64, of Owner) (File, error) {
	file := f.file(stored, name, media, 0)
	digest, info, err := f.write(stored, content, most, of)
	if err != nil {
		return File{}, fmt.Errorf("store the file %q: %w", clip(name, 64), err)
	}
	file.Digest, file.Size = digest, info.Size()
	return file, nil
}

func (f *Folder) write(stored string, content io.Reader, most int64, of Owner) (digest string, info fs.FileInfo, err error) {
	root, err := asuser.Value(f.cfg.User, f.open)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	if err := f.room(0); err != nil {
		return "", nil, err
	}
	w, err := f.cfg.Quota.begin(stored, of)
	if err != nil {
		return "", nil, err
	}
	defer func() { w.end(info) }()
	return write(f.cfg.User, root, stored, content, most, func(bytes int64) error {
		if err := f.room(bytes); err != nil { // where the disk is full the others stay: something else fills it
			return err
		}
		return w.room(bytes)
	})
}

// room asks the disk for room.
func (f *Folder) room(bytes int64) error {
	if f.cfg.Room == nil {
		return nil
	}
	return f.cfg.Room(bytes)
}

func (f *Folder) file(stored, name, media string, size int64) File {
	path := filepath.Join(f.cfg.Work, place, stored)
	return File{Path: path, Stored: stored, URI: "workspace:" + path, Name: cmp.Or(plainName(name), "file"), MediaType: media, Size: size}
}

// Remove takes away what Add has stored, as if it had never come.
func (f *Folder) Remove(stored ...File) {
	names := make([]string, 0, len(stored))
	for _, file := range stored {
		names = append(names, file.Stored)
	}
	remove := f.removeNames
	if f.cfg.Quota != nil {
		remove = f.cfg.Quota.discard
	}
	_ = remove(names...) // the sweep gets what this does not
}

// Release lets go of what Stage holds for a message.
func (f *Folder) Release(stored ...string) { f.cfg.Quota.release(stored...) }

// Drop takes away those of files, by the URIs of Stage, that are a message's own, unless
// something names them.
func (f *Folder) Drop(uris ...string) {
	var names []string
	for _, uri := range uris {
		if name, ok := strings.CutPrefix(uri, f.file("", "", "", 0).URI+"/"); ok && storedName.MatchString(name) && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	if err := f.cfg.Quota.drop(names...); err != nil {
		f.cfg.Log.Warn("files of a message could not be removed; the next start, or the next count within an hour, does it", "err", err)
	}
}

// Most is how many bytes may stand in the folder, or of what is there for other agents.
func (f *Folder) Most(peer bool) int64 { return f.cfg.Quota.Most(peer) }

// removeNames takes files of the folder away. What is not there is no error.
func (f *Folder) removeNames(names ...string) error {
	return f.cfg.User.Do(func() error {
		root, err := f.openExisting()
		if nothing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if gone := root.Remove(name); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
		return errors.Join(err, root.Close())
	})
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
