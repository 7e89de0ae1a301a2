package adapter

import (
	"errors"
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
// What was not looked at counts as one.
type link struct {
	names []string // of the folder that has the .codex
	path  string
	what  string // is the matter with it
	mend  string // that the operator can do about it
	gone  bool   // it was there
}

// mostLinked is how many names in a .codex are looked at.
const mostLinked = 1000

// linkIn is the first link in what of a .codex has a say; nil without one.
func linkIn(dir string) *link {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return linkAt(dir, info, err)
	}
	left := mostLinked
	return linkBelow(dir, hasASay, &left)
}

func linkBelow(dir string, wanted func(string) bool, left *int) *link {
	names, err := regular.Names(dir, *left, wanted)
	switch {
	case errors.Is(err, regular.ErrMany):
		return &link{path: dir, what: fmt.Sprintf("has too many names to look at each (of %d in all that have a say)", mostLinked), mend: "take away what codex has no need of"}
	case err != nil:
		return &link{path: dir, what: "cannot be looked at", mend: "let the runtime read it"}
	}
	*left -= len(names)
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if one := linkAt(path, info, err); one != nil && !isLock(path) {
			return one
		}
		if info == nil || !info.IsDir() {
			continue
		}
		if one := linkBelow(path, regular.All, left); one != nil {
			return one
		}
	}
	return nil
}

// linkAt is the path if it is a link, or another name of a file; nil if it is not, or is not there.
func linkAt(path string, info fs.FileInfo, err error) *link {
	if err != nil {
		return nil
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode()&fs.ModeSymlink != 0 || !info.IsDir() && (!ok || stat.Nlink > 1) {
		return &link{path: path, what: "is a link, or its file has another name", mend: "put the file itself there, by this name alone"}
	}
	return nil
}

// isLock reports whether a path is an editor's lock: a link that leads no further than to a name beside it,
// where commands do not write.
func isLock(path string) bool {
	to, err := os.Readlink(path)
	return err == nil && strings.HasPrefix(filepath.Base(path), ".#") && to != ".." && !strings.Contains(to, "/")
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
			links = append(links, link{names: l.named(dir), path: filepath.Join(dir, ".codex"), gone: true})
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

// relink looks at what is noted of links, and notes those that have come since, and those that this
// process has seen already.
func (l *Launch) relink(config map[string]any, seen []string) error {
	if l.note == "" {
		return nil
	}
	noted, err := l.noted()
	l.had = l.everLinked(config, union(noted.links, seen), false)
	if err == nil && len(l.had) > len(noted.links) {
		noted.links = l.had
		err = l.keep(noted)
	}
	return err
}

func union(some, more []string) []string {
	all := slices.Concat(some, more)
	slices.Sort(all)
	return slices.Compact(all)
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

// brings reports whether codex would go by the .codex of a folder.
func (l Launch) brings(names []string) bool {
	if names[0] == l.names()[0] {
		return len(l.Project.Settles) > 0
	}
	return slices.ContainsFunc(l.Project.Folders, func(f Folder) bool { return f.Names[0] == names[0] })
}

// inTheWay are the links in what the operator trusts and codex would go by.
func (l Launch) inTheWay(config map[string]any) []link {
	return slices.DeleteFunc(l.linked(config), func(one link) bool { return one.gone && !l.brings(one.names) })
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
		What: fmt.Sprintf("%s %s, so that commands could write what codex goes by, and codex reads neither this .codex nor AGENTS.md there, although it is trusted", one.path, one.what),
		Fix:  fmt.Sprintf("stop the runtime, %s, look at what is in it, and remove %s", one.mend, note),
	}
}
