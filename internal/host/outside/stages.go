package outside

import (
	"context"
	"errors"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
)

// stages brings the files to the disk that messages have in them, before they come onto the desk.
type stages struct {
	*desk.Desk
	fault   string                   // stands before what a sender is told of a failure
	folders map[string]*files.Folder // by workspace
}

// Give implements [channel.Engine].
func (e stages) Give(ctx context.Context, m channel.Message) (string, error) {
	folder := e.folders[m.Workspace]
	staged := make([]channel.File, 0, len(m.Files))
	for i, f := range m.Files {
		if len(f.Bytes) > 0 {
			file, err := folder.Stage(ctx, files.Incoming{
				Key: fmt.Sprintf("%s %s %d", m.Workspace, m.ID, i), Name: f.Name, MediaType: f.MediaType, Content: f.Bytes, Peer: m.Peer != "",
			})
			switch {
			case errors.Is(err, files.ErrTooLarge), errors.Is(err, files.ErrForbidden), errors.Is(err, files.ErrNotHere):
				return "", &channel.RefusedError{Text: e.fault + fmt.Sprintf("the file %q of the message could not be stored: %v", f.Name, err)}
			case err != nil:
				return "", fmt.Errorf("%w: %w", channel.ErrNotNow, err)
			}
			f.URI, f.Bytes = file.URI, nil
		}
		staged = append(staged, f)
	}
	m.Files = staged
	return e.Desk.Give(ctx, m)
}
