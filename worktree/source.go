package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// plainURL is a source without a password.
func plainURL(from string) string {
	scheme, rest, ok := strings.Cut(from, "://")
	if !ok {
		return from
	}
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	return scheme + "://" + authority + "/" + path
}

// A source is a repository to import from.
type source struct {
	name     string // as git gets it
	protocol string // the only one that git may speak
	remote   bool
	work     string // the folder of a local one's working copy; empty if it has none
	git      string // where a local one has what is git's
}

// source finds out what a name of a repository stands for. Git would see more in it than is wanted: programs (ext::), options,
// and paths that look like the names of machines.
func (r *Repository) source(ctx context.Context, from string) (source, error) {
	path, local := strings.CutPrefix(from, "file://")
	scheme, _, isURL := strings.Cut(from, "://")
	switch {
	case local, !isURL && filepath.IsAbs(from):
		return r.localSource(ctx, filepath.Clean(path))
	case strings.HasPrefix(from, "-"), strings.Contains(from, "::"):
		return source{}, errors.New("that is no path and no URL")
	case isURL:
		switch scheme {
		case "https", "http", "ssh", "git":
			return source{name: from, protocol: scheme, remote: true}, nil
		}
		return source{}, fmt.Errorf("%s is no protocol that is spoken: give a path, or a URL of https, http, ssh or git", scheme)
	case strings.Contains(from, "@") && strings.Contains(from, ":"):
		return source{name: from, protocol: "ssh", remote: true}, nil
	}
	return source{}, errors.New("give an absolute path, or a URL")
}

func (r *Repository) localSource(ctx context.Context, path string) (source, error) {
	src := source{name: path, protocol: "file"}
	if !filepath.IsAbs(path) {
		return src, errors.New("give an absolute path")
	}
	for _, dir := range []string{filepath.Join(path, ".git"), path} {
		found, err := r.text(ctx, call{args: []string{"rev-parse", "--resolve-git-dir", dir}})
		if ctx.Err() != nil {
			return src, err
		}
		if err != nil {
			continue
		}
		if src.git = found; dir != path {
			src.work = path
		}
		return src, nil
	}
	if _, err := os.Lstat(path); err != nil {
		return src, fmt.Errorf("%w (%w)", ErrNoRepository, err)
	}
	return src, ErrNoRepository
}
