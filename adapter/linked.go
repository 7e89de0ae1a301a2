package adapter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A link is in a .codex what can lie elsewhere, too, where commands write: codex's sandbox keeps the
// folder from them, and not what its links and the other names of its files are (seen on 0.169.0).
type link struct {
	names []string // of the folder that has the .codex
	path  string
	gone  bool // it was there
}

// mostLinked is how many names in a .codex are looked at; one with more is taken for linked.
const mostLinked = 1000

// linkIn is the first link in what of a .codex has a say; empty without one.
func linkIn(dir string) string {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return linkAt(dir, info, err)
	}
	left := mostLinked
	return linkBelow(dir, hasASay, &left)
}

func linkBelow(dir string, wanted func(string) bool, left *int) string {
	names, err := regular.Names(dir, *left, func(name string) bool { return wanted(name) && !strings.HasPrefix(name, ".#") }) // which are editors' locks
	if err != nil {
		return dir
	}
	*left -= len(names)
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if at := linkAt(path, info, err); at != "" {
			return at
		}
		if info == nil || !info.IsDir() {
			continue
		}
		if at := linkBelow(path, regular.All, left); at != "" {
			return at
		}
	}
	return ""
}

// linkAt is the path if it is a link, or another name of a file; empty if it is not, or is not there.
func linkAt(path string, info fs.FileInfo, err error) string {
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode()&fs.ModeSymlink != 0 || !info.IsDir() && (!ok || stat.Nlink > 1) {
		return path
	}
	return ""
}

// linked are the links in what the operator trusts, where commands have a sandbox.
func (l Launch) linked(config map[string]any) (links []link) {
	for _, one := range l.links() {
		if level(config, l.trustedBy(one.names)) == "trusted" {
			links = append(links, one)
		}
	}
	return links
}

// links are those that there are, or have been, where commands have a sandbox.
func (l Launch) links() []link {
	if !l.Sandboxed {
		return nil
	}
	links := slices.Clone(l.Project.Links)
	for _, dir := range l.had {
		if !slices.ContainsFunc(links, func(one link) bool { return one.names[0] == dir }) {
			links = append(links, link{l.named(dir), filepath.Join(dir, ".codex"), true})
		}
	}
	return links
}

// everLinked are the folders whose .codex has links or, as is noted, has had some, in what the operator
// trusts. Those that are trusted no more are dropped where that is known.
func (l Launch) everLinked(config map[string]any, noted []string, known bool) (dirs []string) {
	for _, dir := range noted {
		if !known || level(config, l.trustedBy(l.named(dir))) == "trusted" {
			dirs = append(dirs, dir)
		}
	}
	for _, one := range l.linked(config) {
		if !slices.Contains(dirs, one.names[0]) {
			dirs = append(dirs, one.names[0])
		}
	}
	return dirs
}

// named are all names of a folder that is noted by one.
func (l Launch) named(dir string) []string {
	for _, names := range l.Project.Way {
		if names[0] == dir {
			return names
		}
	}
	return []string{dir}
}

// relink looks at what is noted of links, and notes those that have come since.
func (l *Launch) relink(config map[string]any) error {
	if l.note == "" {
		return nil
	}
	noted, err := l.noted()
	if err != nil {
		return err
	}
	l.had = noted.links
	if dirs := l.everLinked(config, noted.links, false); len(dirs) > len(noted.links) {
		l.had, noted.links = dirs, dirs
		return l.keep(noted)
	}
	return nil
}

// trustsAbove reports whether the operator trusts a folder above the work directory that brings settings.
func (l Launch) trustsAbove(config map[string]any) bool {
	return slices.ContainsFunc(l.Project.Folders, func(f Folder) bool { return level(config, l.trustedBy(f.Names)) == "trusted" }) || len(l.linked(config)) > 0
}

// trustedBy are the names by which codex trusts what a folder brings, which is the work directory or
// lies above it.
func (l Launch) trustedBy(names []string) []string {
	all := slices.Concat(names, l.Project.Root)
	if names[0] != l.names()[0] {
		all = slices.Concat(all, l.Project.Top, l.Project.Main)
	}
	return all
}

// problem says that a link takes the trust from its folder.
func (one link) problem(note string) *Problem {
	if one.gone {
		return &Problem{
			What: one.path + " has had a link, or a file with another name, by which commands could write what codex goes by, and codex reads neither this .codex nor AGENTS.md there, although it is trusted",
			Fix:  "stop the runtime, look at what is in it and, if you trust that, remove " + note,
		}
	}
	return &Problem{
		What: fmt.Sprintf("%s is a link, or its file has another name, so that commands could write what codex goes by, and codex reads neither this .codex nor AGENTS.md there, although it is trusted", one.path),
		Fix:  "stop the runtime, put the file itself there, by this name alone, look at what is in it, and remove " + note,
	}
}
