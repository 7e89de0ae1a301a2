// Package attach has the files that messages bring along and replies name: where they are, and
// the parts that name them.
package attach

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// IsFile reports whether a part is a file: its bytes, or its URL.
func IsFile(p *a2a.Part) bool {
	switch p.Content.(type) {
	case a2a.Raw, a2a.URL:
		return true
	}
	return false
}

// Files has the files that messages bring along and replies name, on the disk.
type Files interface {
	// Stage brings a file to the disk before its message is accepted, so that it is
	// there whatever happens. Key is that of this file of this message, and of no
	// other: the same key is the same file. It may have so many bytes at most; peer says
	// that it is another agent's. An error that is [ErrNoFile] says that there is nothing to
	// be had, and one that is [ErrTooLarge], too, that it has more; after any other one it
	// may help to try again, where it is [ErrNoRoom] when tasks have ended. The file stays
	// until Release.
	Stage(ctx context.Context, key string, part *a2a.Part, most int64, peer bool) (File, error)
	// Release lets go of files of Stage. What the journal knows of them counts from then on.
	Release(files []File)
	// Drop takes away those of files, by the URIs of Stage, that came with one message alone,
	// unless the journal has something that names them.
	Drop(uris []string)
	// Most is how many bytes may be on the disk of all that Stage brings, or of what it brings
	// for other agents.
	Most(peer bool) int64
	// Path returns where the file is that a URI of Stage names.
	Path(uri string) (string, error)
	// Open opens the file at a path that Path has returned.
	Open(path string) (Content, error)
	// Lend copies the file at such a path, of so many bytes at most, to where codex reads
	// it and its commands do not write, if fit has nothing against it: it is asked before,
	// when the digest, which is as that of a [File], is not known and "", and of what was
	// copied. An error that is [ErrTooLarge] says that the file has more bytes, and that of
	// ctx that it ended before the copy was whole.
	Lend(ctx context.Context, path string, most int64, fit func(content io.ReaderAt, digest string) error) (Loan, error)
	// Offer makes the files that a reply of a task names available to its readers.
	Offer(by Maker, reply ReplyText) []File
	// Keep makes a file available that a turn of a task has made; key is that of the
	// file in its task.
	Keep(by Maker, key, name string, content []byte) (File, error)
}

// A Maker is the task that hands a file out.
type Maker struct {
	Task a2a.TaskID
	Peer bool // its conversation is one with another agent
}

// A Content is what stands in a file.
type Content interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// A Loan is a copy of a file.
type Loan struct {
	Path     string
	Size     int64
	GiveBack func()
}

// A ReplyText is what a turn has said at its end, and what its relative paths mean.
type ReplyText struct {
	Text  string
	Dir   string    // that the turn worked in; empty means the working directory
	Since time.Time // when its task was made; zero if that is not known
	// Folder has the files of the turn where these are not on this machine; else it is nil.
	Folder *agent.Folder
}

// A File is one on the disk.
type File struct {
	URI       string
	Name      string
	MediaType string
	Size      int64
	Digest    string // of what was brought to the disk; empty if it is not known

	Staged bool // it was brought to the disk, and not used where it is
	Own    bool // it was brought for this message alone

	Stored string // what the journal knows it by; empty if it does not stay for its message
	Peer   bool   // only other agents have it

	Kept    string    // says where a copy for readers is kept; empty if there is none
	Expires time.Time // of the copy
}

// What the metadata of a part say of a file that is handed out.
const (
	MetaSize    = "size"      // in bytes
	MetaExpires = "expiresAt" // when it will not be had any more at the latest (RFC 3339)
	metaKept    = "kept"      // where the copy is; callers are not shown it
)

// MetaBrought is in the metadata of a picture that its message has brought: its digest.
// The file stands where commands write, and codex is shown no other.
const MetaBrought = "broughtSha256"

// KeptOf returns where the copy is kept of a file that a task hands out, for what shows
// the part to a caller; false if the part is none.
func KeptOf(p *a2a.Part) (ref string, ok bool) {
	if p == nil || p.Metadata == nil || !IsFile(p) {
		return "", false
	}
	ref, ok = p.Metadata[metaKept].(string)
	return ref, ok
}

// Unkept is the part of a file without what says where its copy is kept.
func Unkept(p *a2a.Part) *a2a.Part {
	out := *p
	out.Metadata = maps.Clone(p.Metadata)
	delete(out.Metadata, metaKept)
	return &out
}

// WithoutOurs is a message of a caller without what is ours to say of its files.
func WithoutOurs(m *a2a.Message) *a2a.Message {
	kept := func(p *a2a.Part) bool { _, ok := p.Metadata[metaKept]; return ok && IsFile(p) }
	if !slices.ContainsFunc(m.Parts, kept) {
		return m
	}
	out := *m
	out.Parts = slices.Clone(m.Parts)
	for i, p := range out.Parts {
		if kept(p) {
			out.Parts[i] = Unkept(p)
		}
	}
	return &out
}

// ErrNoFile says that a file is not to be had.
var ErrNoFile = errors.New("no such file")

// ErrNoRoom says that there is no room for a file beside those of tasks that have not ended.
var ErrNoRoom = errors.New("there is no room for the file")

// ErrTooLarge says that a file is larger than it may be.
var ErrTooLarge = errors.New("the file is too large")

// Part is the part that names a file; given is the one it was made of, if any.
func (f File) Part(given *a2a.Part) *a2a.Part {
	p := a2a.NewFileURLPart(a2a.URL(f.URI), f.MediaType)
	p.Filename, p.MediaType = f.Name, f.MediaType
	if given != nil {
		p.Metadata = given.Metadata
	}
	if f.Digest != "" && Pictured(p, f.Name) {
		p.Metadata = maps.Clone(p.Metadata)
		p.SetMeta(MetaBrought, f.Digest)
	}
	if f.Kept != "" { // values as JSON has them: they may come from the journal, too
		p.Metadata = map[string]any{
			metaKept: f.Kept, MetaSize: float64(f.Size), MetaExpires: f.Expires.UTC().Format(time.RFC3339),
		}
	}
	return p
}

// Pictured reports whether the file of a part is to be shown as a picture.
func Pictured(part *a2a.Part, name string) bool {
	return IsPicture(brief.Or(MediaOf(part), mime.TypeByExtension(strings.ToLower(filepath.Ext(name)))))
}

// IsPicture reports whether models take files of this type as pictures.
func IsPicture(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// MediaOf is the media type of a part, without parameters; "" if it has none that can be read.
func MediaOf(p *a2a.Part) string {
	media, _, err := mime.ParseMediaType(p.MediaType)
	if err != nil {
		return ""
	}
	return media
}

// UrisOf are the URIs that parts of a message have.
func UrisOf(parts []*a2a.Part) []string {
	var uris []string
	for _, p := range parts {
		if uri := p.URL(); uri != "" {
			uris = append(uris, string(uri))
		}
	}
	return uris
}

// PictureName names a picture after what its content shows it to be.
func PictureName(content []byte) (name, media string) {
	media, _, _ = strings.Cut(http.DetectContentType(content), ";")
	ext := map[string]string{"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}[media]
	return "image." + cmp.Or(ext, "bin"), media
}
