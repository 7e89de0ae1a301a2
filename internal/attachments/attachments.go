// Package attachments has the files that messages bring and replies name: as tasks, tools and the channel use them, over
// the folders of adapter/files, with the state's records of them and with bounds that all of a runtime's share.
package attachments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// Attachments are the files of messages and replies as the tasks see them.
type Attachments struct {
	folder   *files.Folder
	loans    *files.Loans // copies for codex
	kept     *Kept        // copies for callers; nil if they get none
	platform bool         // it gets files in the folder
	// elsewhere is a folder of this one, for files that are brought from where turns have worked.
	elsewhere string
	log       *slog.Logger
}

// Handing are the same files, of which callers get copies, too.
func (a Attachments) Handing(kept *Kept) Attachments {
	a.kept = kept
	return a
}

// Sweep deletes what is older, and what belongs to tasks that are forgotten.
func (a Attachments) Sweep(before time.Time) error {
	err := a.folder.Sweep(before)
	if a.kept == nil {
		return err
	}
	return errors.Join(err, a.kept.sweep())
}

// Stage implements [attach.Files].
func (a Attachments) Stage(ctx context.Context, key string, p *a2a.Part, most int64, peer bool) (attach.File, error) {
	in := files.Incoming{Key: key, Name: p.Filename, MediaType: p.MediaType, Most: max(most, 1), Peer: peer, Hold: true}
	switch c := p.Content.(type) {
	case a2a.Raw:
		in.Content = c
	case a2a.URL:
		in.URI = string(c)
	}
	f, err := a.folder.Stage(ctx, in)
	if errors.Is(err, files.ErrTooLarge) {
		return attach.File{}, fmt.Errorf("%w: %w: %w", attach.ErrNoFile, attach.ErrTooLarge, err)
	}
	if errors.Is(err, files.ErrNotHere) || errors.Is(err, files.ErrForbidden) {
		return attach.File{}, fmt.Errorf("%w: %w", attach.ErrNoFile, err)
	}
	if errors.Is(err, files.ErrNoRoom) {
		return attach.File{}, fmt.Errorf("%w: %w", attach.ErrNoRoom, err)
	}
	return fileOf(f), err
}

// Release implements [attach.Files].
func (a Attachments) Release(staged []attach.File) {
	for _, f := range staged {
		a.folder.Release(f.Stored)
	}
}

// Drop implements [attach.Files].
func (a Attachments) Drop(uris []string) { a.folder.Drop(uris...) }

// Most implements [attach.Files].
func (a Attachments) Most(peer bool) int64 { return a.folder.Most(peer) }

// Path implements [attach.Files].
func (a Attachments) Path(uri string) (string, error) {
	f, err := a.folder.Path(uri)
	return f.Path, err
}

// Open implements [attach.Files].
func (a Attachments) Open(path string) (attach.Content, error) {
	file, info, err := a.folder.Open(path)
	if err != nil {
		return nil, err
	}
	return sized{file, info.Size()}, nil
}

// sized is an open file as it was when it was opened.
type sized struct {
	*os.File
	size int64
}

// Size implements [attach.Content].
func (s sized) Size() int64 { return s.size }

// Lend implements [attach.Files].
func (a Attachments) Lend(ctx context.Context, path string, most int64, fit func(io.ReaderAt, string) error) (attach.Loan, error) {
	source, info, err := a.folder.Open(path)
	if err != nil {
		return attach.Loan{}, err
	}
	defer source.Close()
	if info.Size() > most { // found out by copying only of what grows
		return attach.Loan{}, attach.ErrTooLarge
	}
	at, size, err := a.loans.Lend(ctx, source, filepath.Base(path), most, fit)
	if errors.Is(err, files.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", attach.ErrTooLarge, err)
	}
	return attach.Loan{Path: at, Size: size, GiveBack: func() { a.loans.GiveBack(at) }}, err
}

// Offer implements [attach.Files].
func (a Attachments) Offer(by attach.Maker, reply attach.ReplyText) []attach.File {
	said := files.Reply{Text: reply.Text, Dir: reply.Dir, Since: reply.Since}
	if reply.Folder == nil {
		return a.offerFrom(a.folder, by, said)
	}
	out, err := a.offerOf(reply.Folder, by, said)
	if err != nil {
		a.log.Warn("files that a reply names could not be brought from where the turn has worked", "task_id", by.Task, "err", err)
	}
	return out
}

// offerFrom makes the files in a folder available that a reply names.
func (a Attachments) offerFrom(from *files.Folder, by attach.Maker, reply files.Reply) []attach.File {
	var out []attach.File
	for _, named := range from.Named(reply) {
		file, err := a.offer(from, by, named)
		if err != nil {
			a.log.Warn("a file that a reply names could not be handed out", "task_id", by.Task, "err", err)
			continue
		}
		out = append(out, file)
	}
	return out
}

// offer makes one file available: to the platform in its folder, to others on the shelf.
func (a Attachments) offer(from *files.Folder, by attach.Maker, file files.File) (attach.File, error) {
	if a.platform {
		owner := files.Owner{Peer: by.Peer, Task: string(by.Task)}
		copied, err := a.folder.Copy(file, owner)
		if from != a.folder {
			copied, err = a.folder.CopyOf(from, file, owner)
		}
		if err != nil {
			return attach.File{}, err
		}
		file, from = copied, a.folder
	}
	if a.kept == nil {
		return fileOf(file), nil
	}
	source, info, err := from.Open(file.Path)
	if err != nil {
		return attach.File{}, err
	}
	defer source.Close()
	return a.keep(by, file, info.Size(), source)
}

// keep puts a copy onto the shelf. Where that fails the platform gets the file all the same.
func (a Attachments) keep(by attach.Maker, file files.File, size int64, content io.Reader) (attach.File, error) {
	out := fileOf(file)
	kept, err := a.kept.shelf.Keep(files.Owner{Peer: by.Peer, Task: string(by.Task)}, file.Name, size, content)
	switch {
	case err == nil:
		out.Kept, out.Size, out.Expires = kept.Ref, kept.Size, kept.Expires
	case a.platform:
		a.log.Warn("a file could not be kept for callers; the platform gets it", "task_id", by.Task, "err", err)
	default:
		return attach.File{}, err
	}
	return out, nil
}

// Keep implements [attach.Files].
func (a Attachments) Keep(by attach.Maker, key, name string, content []byte) (attach.File, error) {
	file := files.File{URI: "kept:" + name, Name: name, Size: int64(len(content))}
	if a.platform {
		staged, err := a.folder.Stage(context.Background(), files.Incoming{
			Key: fmt.Sprintf("%s %q", by.Task, key), Name: name, Content: content, Peer: by.Peer, Task: string(by.Task),
		})
		if err != nil {
			return attach.File{}, err
		}
		file = staged
	}
	if a.kept == nil {
		return fileOf(file), nil
	}
	return a.keep(by, file, file.Size, bytes.NewReader(content))
}

func fileOf(f files.File) attach.File {
	return attach.File{URI: f.URI, Name: f.Name, MediaType: f.MediaType, Size: f.Size, Digest: f.Digest, Staged: f.Staged, Own: f.Own, Stored: f.Stored, Peer: f.Peer}
}
