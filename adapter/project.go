package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// A Project is what there is to know of the work directory as one of codex's projects.
type Project struct {
	// Names are the ones by which codex asks for it in [projects], the first that is said
	// there first: with its symlinks resolved, and as it is given (seen on 0.169.0).
	Names []string
	// Root are those of the folder above it that its repository begins in, which codex asks
	// for next. No other folder above it counts there.
	Root []string
	// Top are those of the folder up to which codex looks for settings, which is Root, unless the operator
	// has markers of their own (project_root_markers).
	Top []string
	// Main are those of the main repository where Root is a worktree. By them codex trusts the
	// folders above the work directory. Of that itself it is told: what lies there may only look
	// like a worktree of a repository that is trusted.
	Main []string
	// Settles are the names in its .codex by which the folder would settle what codex does.
	Settles []string
	Way     [][]string // the names of the work directory, and of the folders above it in which codex looks
	Folders []Folder   // those with settings, the nearest last
	// Links are the first that each .codex has, of the work directory's and of those above it.
	Links []link
	// Marker is a path that is there in the root of the repository and not in the folders below it;
	// empty where the work directory lies below none.
	Marker string
}

// lookAt looks at the work directory. What is codex's home settles nothing as a folder's.
func lookAt(dir, home string, markers []string) Project {
	p := Project{Names: namesOf(dir)}
	_, root := wayTo(dir, isRepository)
	way, top := wayTo(dir, func(at string) bool { return isMarked(at, markers) })
	if top != "" {
		p.Top = namesOf(top)
	}
	if root != "" {
		p.Root, p.Main, p.Marker = namesOf(root), mainOf(root), markerOf(root, dir)
	}
	isHome := func(dir string) bool { return namesOf(filepath.Join(dir, ".codex"))[0] == namesOf(home)[0] }
	if !isHome(dir) {
		p.Settles = settled(dir)
	}
	for _, at := range way {
		p.Way = append(p.Way, namesOf(at))
	}
	for _, at := range slices.Backward(way) {
		own := filepath.Join(at, ".codex")
		if one := linkIn(own); one != nil && !isHome(at) {
			one.names = namesOf(at)
			p.Links = append(p.Links, *one)
		}
		if text, err := regular.Read(filepath.Join(own, "config.toml"), mostConfig); err == nil && !isHome(at) {
			p.Folders = append(p.Folders, Folder{Names: namesOf(at), Dir: own, Config: string(text)})
		}
	}
	return p
}

// isMarked reports whether codex takes a directory for the root of a project.
func isMarked(dir string, markers []string) bool {
	return slices.ContainsFunc(markers, func(name string) bool {
		if name == ".git" {
			return isRepository(dir)
		}
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}

// wayTo returns the folders from a directory up to one that is the root, both among them;
// without one the directory alone, and no root.
func wayTo(dir string, isRoot func(string) bool) (way []string, root string) {
	for at := dir; ; at = filepath.Dir(at) {
		way = append(way, at)
		if isRoot(at) {
			return way, at
		}
		if at == filepath.Dir(at) {
			return []string{dir}, ""
		}
	}
}

// isRepository reports whether a repository begins in a directory. A .git without a HEAD is none to
// git: ours is one ([Occupy]), and what a killed sandbox leaves.
func isRepository(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".git"))
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(dir, ".git", "HEAD"))
	}
	return err == nil
}

// mainOf are the names of the main repository of a worktree, by which codex trusts it, too. As codex
// does it wants both to know of each other, in files and not in links: a copied .git leads to no
// repository's trust, and what lies beside a bare one is not trusted by the folder around it (seen on
// 0.169.0).
func mainOf(root string) []string {
	own := pointed(filepath.Join(root, ".git"), "gitdir:", root)
	worktrees := filepath.Dir(own)
	if own == "" || filepath.Base(worktrees) != "worktrees" {
		return nil
	}
	common := filepath.Dir(worktrees)
	main := filepath.Dir(common)
	back, shared := pointed(filepath.Join(own, "gitdir"), "", own), pointed(filepath.Join(own, "commondir"), "", own)
	git := filepath.Join(main, ".git")
	if to := pointed(git, "gitdir:", main); to != "" {
		git = to
	}
	isSame := func(path, as string) bool { return path != "" && namesOf(path)[0] == namesOf(as)[0] }
	if !isSame(back, filepath.Join(root, ".git")) || !isSame(shared, common) || !isSame(git, common) {
		return nil
	}
	return namesOf(main)
}

// pointed is the path that a file of git's has behind a word; empty if it has none.
func pointed(file, word, from string) string {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := regular.Read(file, mostPointer)
	way, ok := strings.CutPrefix(strings.TrimSpace(string(text)), word)
	way = strings.TrimSpace(way)
	switch {
	case err != nil || !ok || way == "":
		return ""
	case !filepath.IsAbs(way):
		way = filepath.Join(from, way)
	}
	return filepath.Clean(way)
}

// mostPointer is more than any path in a worktree's .git.
const mostPointer = 64 << 10

// markerOf is Project.Marker of a repository. Of one whose .git is a file, as those of worktrees are,
// it is our own .git in the work directory, by its way from there.
func markerOf(root, dir string) string {
	if root == dir {
		return ""
	}
	marker := filepath.Join(".git", "HEAD")
	if _, err := os.Lstat(filepath.Join(root, marker)); err == nil {
		return marker
	}
	way, err := filepath.Rel(root, dir)
	marker = filepath.Join(way, ".git", occupant)
	if _, missing := os.Lstat(filepath.Join(root, marker)); err != nil || missing != nil {
		return ""
	}
	return marker
}

// markers are the arguments by which codex takes a folder for the root of a repository where git
// does. It would take the work directory for one, for the .git that we keep there, and so read no
// AGENTS.md and no skills above it.
func (l Launch) markers(config map[string]any) []string {
	names := markersOf(config)
	if l.Project.Marker == "" || !slices.Contains(names, ".git") {
		return nil
	}
	for i, name := range names {
		if name == ".git" {
			name = l.Project.Marker
		}
		names[i] = tomlString(name)
	}
	return override("project_root_markers", "["+strings.Join(names, ",")+"]")
}

func namesOf(dir string) []string {
	resolved, err := within.Follow(dir)
	if err != nil {
		resolved = dir
	}
	return slices.Compact([]string{resolved, dir})
}

// mostSettles is how many names are said.
const mostSettles = 20

// settled returns the names in dir/.codex that have a say in what codex does there, where the
// folder is trusted: its settings, its rules of what runs outside of the sandbox unasked.
func settled(dir string) (names []string) {
	names, err := regular.Names(filepath.Join(dir, ".codex"), mostSettles, hasASay)
	switch {
	case errors.Is(err, regular.ErrMany):
		return append(names, "and more")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return []string{".codex"} // a link, or what cannot be read
	}
	return names
}
