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

// hasASay reports whether a name in a .codex settles something.
func hasASay(name string) bool {
	return !slices.Contains([]string{"skills", "prompts", "environments", ".gitignore", "README.md"}, name)
}
