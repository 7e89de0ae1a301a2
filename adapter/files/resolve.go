package files

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// ErrNotHere says that a path leads to nothing that may be handed out. What is not
// there and what is not ours look the same: it tells nothing of what lies outside.
var ErrNotHere = errors.New("there is no such file in the workspace")

// ErrForbidden says that a path leads out of the roots, or to a secret.
var ErrForbidden = errors.New("the file must not be read from here")

// containerWork is what the platform calls the working directory.
const containerWork = "/workspace"

// Path returns the file that a URI of the workspace names, if it may be handed to
// codex: workspace:/…, file:///… or a bare path.
func (f *Folder) Path(uri string) (File, error) {
	return asuser.Value(f.cfg.User, func() (File, error) { return f.path(uri) })
}

func (f *Folder) path(uri string) (File, error) {
	path, ok := local(uri)
	if !ok {
		return File{}, fmt.Errorf("%w: the URI is of another kind", ErrNotHere)
	}
	file, err := f.under(path)
	if err == nil {
		return file, nil
	}
	if plain, unescapeErr := url.PathUnescape(path); unescapeErr == nil && plain != path {
		if file, err := f.under(plain); err == nil {
			return file, nil
		}
	}
	return File{}, err
}

// local returns the path in a URI of the workspace.
func local(uri string) (path string, ok bool) {
	path = uri
	for _, scheme := range []string{"workspace:", "file:"} {
		if rest, found := strings.CutPrefix(uri, scheme); found {
			path = rest
			if rest, found = strings.CutPrefix(rest, "//"); found {
				path = "/" + strings.TrimLeft(strings.TrimPrefix(rest, "localhost/"), "/")
			}
			break
		}
	}
	return path, strings.HasPrefix(path, "/")
}

// under returns the file at a path under the working directory.
func (f *Folder) under(path string) (File, error) {
	if f.cfg.As != "" {
		path = f.fetched(path)
	}
	rel, err := contained(path, f.cfg.Work)
	if err != nil && f.cfg.Work != containerWork {
		if rest, ok := strings.CutPrefix(path, containerWork+"/"); ok {
			rel, err = contained(filepath.Join(f.cfg.Work, rest), f.cfg.Work)
		}
	}
	if err != nil {
		return File{}, err
	}
	actual := filepath.Join(f.cfg.Work, rel) // but for the symlinks that lead to the root
	if f.hidden(path) || f.hidden(actual) {
		return File{}, ErrForbidden
	}
	info, err := os.Lstat(actual)
	if err != nil || !info.Mode().IsRegular() {
		return File{}, ErrNotHere
	}
	file := File{Path: actual, URI: "workspace:" + actual, Name: filepath.Base(actual), Size: info.Size()}
	if name := file.Name; storedName.MatchString(name) && strings.HasSuffix(filepath.Dir(actual), place) {
		file.Name = name[33:] // without the digits that the folder puts before it
		if rel == filepath.Join(place, name) {
			file.Stored = name
		}
	}
	file.Name = plainName(file.Name)
	return file, nil
}

// fetched has a file of elsewhere be in Work, by what a reply calls it, and returns its path there. Other paths stay as they are.
func (f *Folder) fetched(path string) string {
	for _, dir := range []string{f.cfg.As, containerWork} {
		rel, err := filepath.Rel(dir, filepath.Clean(path))
		if err != nil || rel == "." || !filepath.IsLocal(rel) || f.hidden(path) {
			continue
		}
		at := filepath.Join(f.cfg.Work, rel)
		if f.cfg.Fetch != nil && !f.hidden(at) {
			f.cfg.Fetch(rel)
		}
		return at
	}
	return path
}

// contained returns where a path leads, from the root, if that is under it.
func contained(path, root string) (string, error) {
	realRoot, err := within.Follow(root)
	if err != nil {
		return "", ErrNotHere
	}
	actual, err := within.FollowNamed(filepath.Clean(path))
	if err != nil {
		return "", ErrNotHere
	}
	rel, err := filepath.Rel(realRoot, actual)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", ErrForbidden
	}
	return rel, nil
}

// hidden reports whether a path is never handed out.
func (f *Folder) hidden(path string) bool {
	if Secret(path) {
		return true
	}
	for _, dir := range f.cfg.Hidden {
		if inside(path, dir) {
			return true
		}
		if actual, err := within.Follow(dir); err == nil && inside(path, actual) {
			return true
		}
	}
	return false
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Open opens a file for the platform's user, by an absolute path under one of the
// roots. What it opens is what was checked: the path is followed within the root, and
// what is open is looked at again.
func (f *Folder) Open(path string) (file *os.File, info fs.FileInfo, err error) {
	root := ""
	err = f.cfg.User.Do(func() (err error) {
		file, info, root, err = f.openFile(path)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := f.opened(file, info, root); err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// openFile opens a file, and returns the root that it stands under.
func (f *Folder) openFile(path string) (file *os.File, info fs.FileInfo, under string, err error) {
	if !filepath.IsAbs(path) {
		return nil, nil, "", fmt.Errorf("%w: the path is not absolute", ErrForbidden)
	}
	path = filepath.Clean(path)
	if f.hidden(path) {
		return nil, nil, "", ErrForbidden
	}
	rooted := false
	for _, root := range append([]string{f.cfg.Work}, f.cfg.Readable...) {
		realRoot, err := within.Follow(root)
		if err != nil {
			continue
		}
		rooted = rooted || inside(path, root) || inside(path, realRoot)
		rel, err := contained(path, root)
		if err != nil {
			continue
		}
		if f.hidden(filepath.Join(realRoot, rel)) {
			return nil, nil, "", ErrForbidden
		}
		file, info, err = openIn(realRoot, rel)
		return file, info, realRoot, err
	}
	if _, err := os.Lstat(path); rooted && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, "", ErrNotHere
	}
	return nil, nil, "", ErrForbidden
}

// openIn opens a regular file at a path without symlinks, as it was when it was
// checked: what has been put into the place of the file or of a folder above it since is
// not followed, though it may lead to something below the same root. It waits for no
// writer of a pipe.
func openIn(dir, rel string) (*os.File, fs.FileInfo, error) {
	root, err := regular.Root(dir)
	if err != nil {
		return nil, nil, ErrNotHere
	}
	defer func() { _ = root.Close() }()
	folder, name := filepath.Split(rel)
	for part := range strings.SplitSeq(filepath.Clean(folder), string(filepath.Separator)) {
		next, err := enter(root, part)
		if err != nil {
			return nil, nil, ErrNotHere
		}
		_ = root.Close()
		root = next
	}
	seen, err := root.Lstat(name)
	if err != nil || !seen.Mode().IsRegular() {
		return nil, nil, ErrNotHere
	}
	file, info, err := regular.OpenIn(root, name)
	if err != nil {
		return nil, nil, ErrNotHere
	}
	if !os.SameFile(seen, info) {
		_ = file.Close()
		return nil, nil, ErrNotHere
	}
	return file, info, nil
}
