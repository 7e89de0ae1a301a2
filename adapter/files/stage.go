package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

const (
	fetchTimeout = 60 * time.Second
	ackTimeout   = 5 * time.Second
)

// Pending has the files that the platform holds for the workspace.
type Pending interface {
	// PendingUpload writes the file to w.
	PendingUpload(ctx context.Context, id string, w io.Writer) error
	// AckUpload says that the platform may forget the file.
	AckUpload(ctx context.Context, id string) error
}

// An Incoming is a file as a message brings it: with its content, or with where it is.
type Incoming struct {
	Key       string // of this file of this message, and of no other
	Name      string
	MediaType string
	Content   []byte
	URI       string
	Most      int64  // bytes that it may have; 0 means [MaxBytes]
	Peer      bool   // another agent's
	Hold      bool   // it is for a message that is not accepted yet: it stays until [Folder.Release]
	Task      string // that hands it out; empty if a message brings it
}

// owner is whose the file is, which is one message's own, or not.
func (in Incoming) owner(own bool) Owner {
	return Owner{Peer: in.Peer, Own: own && in.Task == "", Task: in.Task}
}

// mostOf is how many bytes a file may have that a message brings.
func (f *Folder) mostOf(in Incoming) int64 {
	if in.Most <= 0 {
		return f.most
	}
	return min(in.Most, f.most)
}

// Stage brings a file to the disk, where it survives whatever happens. A file that
// is there already is left as it is. [ErrTooLarge], [ErrNotHere] and [ErrForbidden] say that there is
// nothing to be had; any other error, such as [ErrNoRoom], may pass.
func (f *Folder) Stage(ctx context.Context, in Incoming) (File, error) {
	stored, of := f.storedAs(in)
	if stored == "" {
		return f.inPlace(in)
	}
	peer, err := f.cfg.Quota.hold(stored, of, true)
	if err != nil {
		return File{}, err
	}
	file, err := f.stage(ctx, in, stored, of)
	if file.Peer = peer; !in.Hold || err != nil {
		f.cfg.Quota.release(stored)
	}
	return file, err
}

// storedAs is the name that a file is stored by, "" if it is one that stands there, and whose
// it is then. What the platform holds is the same for every message that names it.
func (f *Folder) storedAs(in Incoming) (stored string, of Owner) {
	key, own := in.Key, true
	id, pending := f.pending(in.URI)
	switch {
	case pending:
		key, own = "platform-pending:"+f.cfg.Workspace+"/"+id, false
	case in.URI != "" && !isWeb(in.URI):
		return "", of
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16]) + "-" + sanitize(in.name()), in.owner(own)
}

// name is what the sender calls the file.
func (in Incoming) name() string {
	if in.Name == "" && in.URI != "" {
		return strings.SplitN(base(in.URI), "?", 2)[0]
	}
	return in.Name
}

// inPlace is a file that is used where it stands, which may be in the folder. One that others
// have, too, does not stay for another agent that names it.
func (f *Folder) inPlace(in Incoming) (File, error) {
	file, err := f.Path(in.URI)
	if err != nil {
		return File{}, err
	}
	file.MediaType = in.MediaType
	if in.Name != "" {
		file.Name = plainName(in.Name)
	}
	if file.Stored == "" || !in.Hold {
		return file, nil
	}
	file.Peer, err = f.cfg.Quota.hold(file.Stored, in.owner(false), false)
	if err != nil {
		return File{}, err
	}
	_, err = f.Path(in.URI)
	switch {
	case err != nil: // it has gone meanwhile
		f.cfg.Quota.release(file.Stored)
		return File{}, err
	case in.Peer && !file.Peer: // or another agent could keep all of the rest, which takes room from them
		f.cfg.Quota.release(file.Stored)
		file.Stored = ""
	}
	return file, nil
}

func (f *Folder) stage(ctx context.Context, in Incoming, stored string, of Owner) (file File, err error) {
	name := in.name()
	id, pending := f.pending(in.URI)
	switch {
	case pending:
		file, err = f.fetchPending(ctx, id, stored, name, in, of)
		file = f.known(file)
	case isWeb(in.URI):
		var ok bool
		if file, ok = f.staged(stored, name, in.MediaType); !ok {
			file, err = f.fetchWeb(ctx, in, stored, name, of)
		}
		file = f.known(file)
	default:
		var ok bool
		file, ok = f.staged(stored, name, in.MediaType)
		if file.Digest = hexSum(in.Content); !ok || f.digest(file.Path) != file.Digest { // commands may have put another in its place
			file, err = f.put(stored, name, in.MediaType, bytes.NewReader(in.Content), f.mostOf(in), of)
		}
	}
	return brought(file, err, !pending)
}

// brought is a file that a message has brought, as its own or as others have, too.
func brought(file File, err error, own bool) (File, error) {
	file.Staged, file.Own = err == nil, err == nil && own
	return file, err
}

// known is a file with its digest: one that stood there already has none.
func (f *Folder) known(file File) File {
	if file.Digest == "" && file.Path != "" {
		file.Digest = f.digest(file.Path)
	}
	return file
}

// digest is that of a file in the folder, "" if it cannot be read.
func (f *Folder) digest(path string) string {
	file, _, err := f.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	digest, _, err := copied(io.Discard, file, MaxBytes, nil)
	if err != nil {
		return ""
	}
	return digest
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// staged returns a file that stands in the folder already.
func (f *Folder) staged(stored, name, media string) (File, bool) {
	info, err := asuser.Value(f.cfg.User, func() (os.FileInfo, error) {
		root, err := f.openExisting()
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return root.Lstat(stored)
	})
	if err != nil || !info.Mode().IsRegular() {
		return File{}, false
	}
	return f.file(stored, name, media, info.Size()), true
}

// pending returns the id in a URI of the form platform-pending:<workspace>/<id>.
func (f *Folder) pending(uri string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(uri, "platform-pending:")
	if !ok {
		return "", false
	}
	workspace, id, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	if workspace != f.cfg.Workspace || strings.ContainsAny(id, "/?#%\\") || strings.Trim(id, ".") == "" {
		id = ""
	}
	return id, true
}

// fetchPending gets a file from the platform, and tells it so when the file is safe.
func (f *Folder) fetchPending(ctx context.Context, id, stored, name string, in Incoming, of Owner) (File, error) {
	if id == "" || f.cfg.Pending == nil {
		return File{}, fmt.Errorf("%w: it is not one of this workspace", ErrNotHere)
	}
	file, ok := f.staged(stored, name, in.MediaType)
	if !ok {
		var err error
		file, err = f.receive(stored, name, in, of, func(w io.Writer) error { return f.cfg.Pending.PendingUpload(ctx, id, w) })
		if err != nil {
			return File{}, err
		}
	}
	// The platform keeps it a little longer if this does not arrive, and the message that
	// brings it does not wait for that.
	acking, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	_ = f.cfg.Pending.AckUpload(acking, id)
	return file, nil
}

// receive stores what send writes. That it could not be had is [ErrNotHere].
func (f *Folder) receive(stored, name string, in Incoming, of Owner, send func(io.Writer) error) (File, error) {
	if err := f.mayBring(of); err != nil {
		return File{}, err
	}
	r, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := send(w)
		w.CloseWithError(err)
		sent <- err
	}()
	file, err := f.put(stored, name, in.MediaType, r, f.mostOf(in), of)
	_ = r.Close() // what is not wanted any more ends the sender
	if theirs := <-sent; err != nil && (theirs != nil && !errors.Is(theirs, io.ErrClosedPipe) || errors.Is(err, ErrTooLarge)) {
		return File{}, fmt.Errorf("%w: %w", ErrNotHere, err)
	}
	return file, err
}

// mayBring reports why a file could not be stored, before it is asked for.
func (f *Folder) mayBring(of Owner) error {
	if err := f.room(0); err != nil {
		return err
	}
	return f.cfg.Quota.mayBegin(of.Peer)
}

func isWeb(uri string) bool {
	lower := strings.ToLower(uri)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// fetchWeb gets a file from a URL that a caller gave, if the guard lets it be followed.
func (f *Folder) fetchWeb(ctx context.Context, in Incoming, stored, name string, of Owner) (File, error) {
	if f.cfg.Guard == nil {
		return File{}, fmt.Errorf("%w: URLs are not followed here", ErrForbidden)
	}
	if _, err := f.cfg.Guard.URL(in.URI); err != nil {
		return File{}, fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	leave, err := f.cfg.Fetches.enter(ctx, of.Peer)
	if err != nil {
		return File{}, fmt.Errorf("too many files are fetched at a time: %w", err)
	}
	defer leave()
	if err := f.mayBring(of); err != nil {
		return File{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, in.URI, nil)
	if err != nil {
		return File{}, fmt.Errorf("%w: no URL", ErrNotHere)
	}
	req.Header.Set("Accept-Encoding", "identity") // what comes packed all the same is stored so
	res, err := f.cfg.client.Do(req)
	if err != nil {
		return File{}, fmt.Errorf("%w: %w", ErrNotHere, errors.Unwrap(err)) // without the URL, which may hold a secret
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return File{}, fmt.Errorf("%w: the server answered %s", ErrNotHere, res.Status)
	}
	body := &marked{Reader: res.Body}
	file, err := f.put(stored, name, in.MediaType, body, f.mostOf(in), of)
	if err != nil && (body.err != nil || errors.Is(err, ErrTooLarge)) { // theirs, not ours
		return File{}, fmt.Errorf("%w: %w", ErrNotHere, err)
	}
	return file, err
}

// A marked reader remembers that reading failed.
type marked struct {
	io.Reader
	err error
}

func (m *marked) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}
