package attachments

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// ErrNoFile is said of what is not there, and of what is none of the user's business:
// the model is not to learn which.
var ErrNoFile = errors.New("there is no file of that name that may be sent: it must be a regular file under the working directory, and hold none of the workspace's secrets")

// Sendable are the files that a message to the user may have attached: those under
// the folder that codex works in. It implements [toolset.Files].
type Sendable struct {
	folder *files.Folder
	work   string
}

// SendableOf are those under the working directory of the settings.
func SendableOf(s settings.Settings) Sendable {
	return Sendable{files.New(files.Config{Work: s.WorkDir, Hidden: secrets.Hidden(s), User: s.User}), s.WorkDir}
}

// Open implements [toolset.Files]. The file is opened within the folder each time, so
// a symlink that is put in its place meanwhile leads nowhere.
func (f Sendable) Open(path string) (platform.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.work, path)
	}
	file, info, err := f.folder.Open(path)
	if err != nil {
		return platform.File{}, ErrNoFile
	}
	if err := file.Close(); err != nil {
		return platform.File{}, err
	}
	if info.Size() > files.MaxBytes {
		return platform.File{}, errors.New("the file is larger than 100 MiB, which is the most that can be sent")
	}
	return platform.File{Name: filepath.Base(path), Size: info.Size(), Open: func() (io.ReadCloser, error) {
		file, _, err := f.folder.Open(path)
		if err != nil {
			return nil, ErrNoFile
		}
		return file, nil
	}}, nil
}
