package told

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// codex cuts a piece of additional context to some 4,000 bytes, taking out its middle, however
// many pieces there are (seen on 0.169.0: four bytes count as a token, and 1,000 are kept).
const mostPiece = 3500

// mostVersions is how many of the last instructions are kept to be compared with.
const mostVersions = 4

const (
	// changedInstructions stands in front of instructions that a running thread has
	// not heard.
	changedInstructions = "The instructions for this workspace have changed. " +
		"These take the place of the ones that you were given before:\n\n"
	// changedParts stands in front of the sections that are new or others than before, where the
	// rest holds, and goneParts in front of the headings of those that are no more.
	changedParts = "The instructions for this workspace have changed in part; the rest holds as before. " +
		"Each of these sections is new, or takes the place of the one with its heading:\n\n"
	goneParts = "The sections with these headings hold no longer:\n\n"
)

// Versions are the last instructions.
type Versions struct {
	mu   sync.Mutex // guards the field below
	last []version
}

type version struct{ digest, text string }

// Keep notes the instructions that hold now.
func (v *Versions) Keep(digest, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = slices.DeleteFunc(v.last, func(one version) bool { return one.digest == digest })
	v.last = append(v.last, version{digest, text}) // the last to go is the last that was asked for
	v.last = v.last[max(0, len(v.last)-mostVersions):]
}

func (v *Versions) text(digest string) (text string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.last {
		if one.digest == digest {
			return one.text, true
		}
	}
	return "", false
}

// Change is what a thread is told that knows the instructions of a digest: the sections that have
// changed, whole, since one may say at its beginning what the rest of it is; or everything, where
// that is shorter, or where it cannot be said so.
func (v *Versions) Change(known, text string) string {
	all := changedInstructions + text
	before, _ := v.text(known)
	old, now := sections(before), sections(text)
	if old == nil || now == nil {
		return all
	}
	if now[0] != old[0] && (now[0].heading == "" || old[0].heading == "") {
		return all
	}
	if !slices.Equal(shared(old, now), shared(now, old)) { // what says "above" has come to mean another
		return all
	}
	var changed, gone []string
	for _, s := range now {
		if !slices.Contains(old, s) {
			changed = append(changed, s.text)
		}
	}
	for i, s := range old {
		if has(now, s.heading) {
			continue
		}
		if strings.HasPrefix(s.heading, "# ") && i+1 < len(old) && strings.HasPrefix(old[i+1].heading, "## ") {
			return all // does what stood below it hold, if it is still there?
		}
		gone = append(gone, s.heading)
	}
	var told []string
	if len(changed) > 0 {
		told = append(told, changedParts+strings.Join(changed, "\n\n"))
	}
	if len(gone) > 0 {
		told = append(told, goneParts+strings.Join(gone, "\n"))
	}
	if part := strings.Join(told, "\n\n"); part != "" && len(part) < len(all) {
		return part
	}
	return all
}

// shared are the headings of sections that others have, too.
func shared(all, others []section) (headings []string) {
	for _, s := range all {
		if has(others, s.heading) {
			headings = append(headings, s.heading)
		}
	}
	return headings
}

func has(all []section, heading string) bool {
	return slices.ContainsFunc(all, func(s section) bool { return s.heading == heading })
}

// A section is what stands below a heading of the first or second order, with that, or before the
// first of them. The heading has its marks.
type section struct{ heading, text string }

// sections are those of a text; nil where two have the same heading, or there are none. What looks
// like a heading in a block of code is none.
func sections(text string) (all []section) {
	var now section
	var lines strings.Builder
	twice := false
	end := func() {
		if now.text = strings.TrimSpace(lines.String()); now.text != "" {
			twice = twice || has(all, now.heading)
			all = append(all, now)
		}
		lines.Reset()
	}
	fence := ""
	for line := range strings.Lines(text) {
		switch mark := fenceOf(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark { // with nothing behind it
				fence = ""
			}
		case mark != "":
			fence = mark
		case strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "):
			end()
			now.heading = strings.TrimSpace(line)
		}
		lines.WriteString(line)
	}
	end()
	if twice {
		return nil
	}
	return all
}

// fenceOf is what a line begins or ends a block of code with; empty if it does neither.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(line, "`")
	if strings.HasPrefix(line, "~") {
		rest = strings.TrimLeft(line, "~")
	}
	if mark := line[:len(line)-len(rest)]; len(mark) >= 3 {
		return mark
	}
	return ""
}

// goesOn stands in front of a piece that is not the first: it may begin in the middle of what another
// agent says of itself, and is no instruction by itself.
const goesOn = "[This goes on in the middle of the part before it, and is to be read as one text with it.]\n"

// Pieces are a text in parts that codex takes whole, by keys that sort as they follow each other.
func Pieces(key, text string) map[string]string {
	if len(text) <= mostPiece {
		return map[string]string{key: text}
	}
	all := map[string]string{}
	for n := 1; text != ""; n++ {
		end := pieceEnd(text)
		piece := text[:end]
		if n > 1 {
			piece = goesOn + piece
		}
		all[fmt.Sprintf("%s_part_%03d", key, n)] = piece
		text = text[end:]
	}
	return all
}

// pieceEnd is where the first piece of a text ends: with a line, or a word, or a character.
func pieceEnd(text string) int {
	if len(text) <= mostPiece {
		return len(text)
	}
	head := text[:mostPiece]
	for _, after := range []string{"\n", " "} {
		if i := strings.LastIndex(head, after); i > mostPiece/2 {
			return i + len(after)
		}
	}
	end := mostPiece
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}
