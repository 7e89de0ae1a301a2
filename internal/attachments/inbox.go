package attachments

import (
	"context"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// An Inbox is the files of the messages of a workspace whose inbox is read. It implements [channel.Files].
type Inbox struct {
	folder *files.Folder
	open   Sendable
}

// InboxOf is that of a folder, which lies under a working directory.
func InboxOf(folder *files.Folder, work string) Inbox { return Inbox{folder, Sendable{folder, work}} }

// Fetch implements [channel.Files].
func (f Inbox) Fetch(ctx context.Context, in channel.File) (string, error) {
	file, err := f.folder.Stage(platform.Once(ctx), files.Incoming{Key: in.URI, Name: in.Name, MediaType: in.MediaType, URI: in.URI})
	return file.URI, err
}

// Open implements [channel.Files].
func (f Inbox) Open(out channel.File) (platform.File, error) {
	found, err := f.folder.Path(out.URI)
	if err != nil {
		return platform.File{}, ErrNoFile
	}
	file, err := f.open.Open(found.Path)
	file.Type = out.MediaType
	if out.Name != "" {
		file.Name = filepath.Base(out.Name)
	}
	return file, err
}
