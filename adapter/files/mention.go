package files

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Reply is what a turn has said at its end.
type Reply struct {
	Text  string
	Dir   string    // that the turn worked in; empty means the working directory
	Since time.Time // relative names in code spans are those of files written since then
}

// A mention is a path as a reply has it.
type mention struct {
	path     string
	at       int // where the path begins
	relative bool
	span     bool // a relative one, in a code span and not in a link
}

var (
	// absolutes matches absolute paths in prose: quoted ones with whatever the quotes hold,
	// links up to their titles, and bare ones up to what cannot be part of them.
	absolutes = regexp.MustCompile("`(?:workspace:|file://)?(/[^`\n]+)`" + `|"(?:workspace:|file://)?(/[^"\n]+)"` +
		`|\]\((?:workspace:|file://)?(/(?:[^()\n]|\([^()\n]*\))*?)(?:\s+"[^"\n]*")?\)` +
		`|(?:^|[\s(\[:'*>])(?:workspace:|file://)?(/[^\s"'` + "`" + `<>()\[\]{}|*,;]+)`)

	// references matches code spans, absolute paths in angle brackets, and links to what is
	// relative.
	references = regexp.MustCompile("`([^`\n]+)`" + `|<(?:workspace:|file://)?(/[^<>\n]+)>|\]\(<([^<>/\n][^<>\n]*)>` +
		`|\]\(([^()<>/#\s](?:[^()\n]|\([^()\n]*\))*?)(?:\s+"[^"\n]*")?\)`)

	// lineOf matches the line in a file that a reference to it may end with.
	lineOf = regexp.MustCompile(`(?::\d+(?:[:–-]\d+)*|#L\d+(?:C\d+)?(?:[–-]L?\d+(?:C\d+)?)?)$`)
)

// mayMention reports whether the expressions have to look at a text: they take 0.2 µs for each byte of it,
// and each of their alternatives has one of these.
func mayMention(text string) bool {
	return strings.ContainsAny(text, "/`") || strings.Contains(text, "](")
}

// mostMentions is how many paths are read of a text in each of the two ways: what a model
// can say in one reply has room for millions.
const mostMentions = 20_000

// mentions are the paths that a text may have, in their order.
func mentions(text string) []mention {
	if !mayMention(text) {
		return nil
	}
	var all []mention
	for _, m := range absolutes.FindAllStringSubmatchIndex(text, mostMentions) {
		all = append(all, mentionAt(text, m))
	}
	for _, match := range references.FindAllStringSubmatchIndex(text, mostMentions) {
		m := mentionAt(text, match)
		m.relative = !strings.HasPrefix(m.path, "/")
		m.span = m.relative && text[match[0]] == '`'
		if !m.relative || !strings.Contains(m.path, ":/") { // an URI is not relative
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b mention) int { return cmp.Compare(a.at, b.at) })
	return all
}

// mentionAt is what the one group of a match says that has matched.
func mentionAt(text string, match []int) mention {
	for i := 2; i < len(match); i += 2 {
		if match[i] >= 0 {
			return mention{path: text[match[i]:match[i+1]], at: match[i]}
		}
	}
	return mention{}
}

// mentioned returns the file that a mention is of. A name in a code span, and a line of a
// file, are as often spoken of as handed out, as in "`main.go` starts it": there it is what
// the task has written that counts.
func (f *Folder) mentioned(m mention, reply Reply) (File, bool) {
	plain := strings.TrimRight(m.path, ".:!?") // without what the sentence adds
	for _, path := range slices.Compact([]string{m.path, plain}) {
		if file, ok := f.first(path, m.relative, reply.Dir); ok {
			return file, !m.span || writtenSince(file.Path, reply.Since)
		}
	}
	whole := lineOf.ReplaceAllString(plain, "")
	if whole == plain {
		return File{}, false
	}
	file, ok := f.first(whole, m.relative, reply.Dir)
	return file, ok && writtenSince(file.Path, reply.Since)
}

// first returns the first file that there is of those that a path may stand for.
func (f *Folder) first(path string, relative bool, dir string) (File, bool) {
	for _, path := range f.places(path, relative, dir) {
		if file, err := f.path(path); err == nil {
			return file, true
		}
	}
	return File{}, false
}

// places are the absolute paths that a path may stand for.
func (f *Folder) places(path string, relative bool, dir string) []string {
	if !relative {
		return []string{path}
	}
	work := cmp.Or(f.cfg.As, f.cfg.Work)
	return slices.Compact([]string{filepath.Join(cmp.Or(dir, work), path), filepath.Join(work, path)})
}

// writtenSince reports whether a file has changed since. File systems keep the time less
// exactly than the clock has it, by two seconds at most.
func writtenSince(path string, since time.Time) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.ModTime().Before(since.Add(-2*time.Second))
}

// ours tells quickly whether a path may be one to look at.
func (f *Folder) ours(path string) bool {
	return inside(path, cmp.Or(f.cfg.As, f.cfg.Work)) || strings.HasPrefix(path, containerWork+"/")
}
