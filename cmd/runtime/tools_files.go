package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// errNoFile is said of what is not there, and of what is none of the user's business:
// the model is not to learn which.
var errNoFile = errors.New("there is no file of that name that may be sent: it must be a regular file under the working directory, and hold none of the workspace's secrets")

// largestAttachment is what the platform takes.
const largestAttachment = 100 << 20

// sendable are the files that a message to the user may have attached: those under
// the folder that codex works in. It implements [toolset.Files].
type sendable struct {
	work   string
	hidden []string // folders under it that are ours
}

func sendableFiles(s settings.Settings) sendable {
	return sendable{work: s.WorkDir, hidden: []string{s.StateDir, s.CodexHome}}
}

// Open implements [toolset.Files]. The file is opened within the folder each time, so
// a symlink that is put in its place meanwhile leads nowhere.
func (f sendable) Open(path string) (platform.File, error) {
	rel, err := f.under(path)
	if err != nil {
		return platform.File{}, err
	}
	file, info, err := f.openAt(rel)
	if err != nil {
		return platform.File{}, err
	}
	if err := file.Close(); err != nil {
		return platform.File{}, err
	}
	if info.Size() > largestAttachment {
		return platform.File{}, errors.New("the file is larger than 100 MiB, which is the most that can be sent")
	}
	return platform.File{Name: filepath.Base(path), Size: info.Size(), Open: func() (io.ReadCloser, error) {
		file, _, err := f.openAt(rel)
		return file, err
	}}, nil
}

// under is where a path leads, below the working directory.
func (f sendable) under(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.work, path)
	}
	work, err := filepath.EvalSymlinks(f.work)
	if err != nil {
		return "", errNoFile
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil || secretName(path) || secretName(target) {
		return "", errNoFile
	}
	rel, err := filepath.Rel(work, target)
	if err != nil || !filepath.IsLocal(rel) || slices.ContainsFunc(f.hidden, func(dir string) bool { return holds(dir, target) }) {
		return "", errNoFile
	}
	return rel, nil
}

func holds(dir, path string) bool {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// secretName reports whether a path names what holds secrets of the workspace.
func secretName(path string) bool {
	for name := range strings.SplitSeq(strings.ToLower(filepath.ToSlash(path)), "/") {
		if name == "secrets.d" || name == "auth.json" || strings.HasPrefix(name, ".auth_token") ||
			strings.HasPrefix(name, ".platform_inbound_secret") || strings.HasPrefix(name, "state.db") {
			return true
		}
	}
	return false
}

// openAt opens a regular file, and does not wait for who may write to a pipe.
func (f sendable) openAt(rel string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(f.work)
	if err != nil {
		return nil, nil, errNoFile
	}
	defer root.Close()
	if info, err := root.Lstat(rel); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errNoFile
	}
	file, err := root.Open(rel)
	if err != nil {
		return nil, nil, errNoFile
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(errNoFile, file.Close())
	}
	return file, info, nil
}
