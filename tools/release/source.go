package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

const modulePath = "github.com/Molecule-AI/" + program

// sourceSum is what go mod download says of the module at this version: by it the source
// is known, wherever Go gets it from. Go asks for versions of a certain form; others have
// no such sum.
func sourceSum(ctx context.Context, root, version string) (string, error) {
	if module.CanonicalVersion(version) != version {
		return "", nil
	}
	files, err := moduleFiles(ctx, root)
	if err != nil {
		return "", err
	}
	from := map[string]zip.File{}
	var names []string
	for _, file := range files {
		name := modulePath + "@" + version + "/" + file.Path()
		from[name], names = file, append(names, name)
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return from[name].Open() })
}

// moduleFiles are those that Go takes for a part of the module, of what git has.
func moduleFiles(ctx context.Context, root string) ([]zip.File, error) {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			files = append(files, sourceFile{root, path.Clean(name)})
		}
	}
	checked, err := zip.CheckFiles(files)
	if err != nil {
		return nil, err
	}
	var valid []zip.File
	for _, name := range checked.Valid {
		valid = append(valid, sourceFile{root, name})
	}
	return valid, nil
}

// A sourceFile is a file of the module's source.
type sourceFile struct{ root, name string }

func (f sourceFile) Path() string                 { return f.name }
func (f sourceFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f sourceFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }
