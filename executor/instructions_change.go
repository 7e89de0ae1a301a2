package executor

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

// versions are the last instructions.
type versions struct {
	mu   sync.Mutex // guards the field below
	last []version
}

type version struct{ digest, text string }

func (v *versions) keep(digest, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.ContainsFunc(v.last, func(one version) bool { return one.digest == digest }) {
		return
	}
	v.last = append(v.last, version{digest, text})
	v.last = v.last[max(0, len(v.last)-mostVersions):]
}

func (v *versions) text(digest string) (text string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.last {
		if one.digest == digest {
			return one.text, true
		}
	}
	return "", false
}

// change is what a thread is told that knows the instructions of a digest: the sections that have
// changed, whole, since one may say at its beginning what the rest of it is; or everything, where
// that is shorter, or where it cannot be said so.
func (v *versions) change(known, text string) string {
	all := changedInstructions + text
	before, _ := v.text(known)
	old, now := sections(before), sections(text)
	if old == nil || now == nil {
		return all
	}
	var changed, gone []string
	for _, s := range now {
		if !slices.Contains(old, s) {
			changed = append(changed, s.text)
		}
	}
	for _, s := range old {
		if !slices.ContainsFunc(now, func(other section) bool { return other.heading == s.heading }) {
			gone = append(gone, s.heading)
		}
	}
	if now[0] != old[0] && (now[0].heading == "" || old[0].heading == "") {
		return all
	}
	var told []string
	if len(changed) > 0 {
		told = append(told, changedParts+strings.Join(changed, "\n\n"))
	}
	if len(gone) > 0 {
		told = append(told, goneParts+strings.Join(gone, "\n"))
	}
	if part := strings.Join(told, "\n\n"); len(part) < len(all) {
		return part
	}
	return all
}

// A section is what stands below a heading of the first or second order, with that, or before the
// first of them.
type section struct{ heading, text string }

// sections are those of a text; nil where two have the same heading, or there are none.
func sections(text string) (all []section) {
	headings := map[string]bool{}
	for i, part := range strings.Split("\n"+text, "\n# ") {
		for j, part := range strings.Split(part, "\n## ") {
			heading, mark := "", ""
			if i+j > 0 {
				heading, _, _ = strings.Cut(part, "\n")
				mark = strings.Repeat("#", 1+min(j, 1)) + " "
			} else if strings.TrimSpace(part) == "" {
				continue
			}
			if headings[heading] {
				return nil
			}
			headings[heading] = true
			all = append(all, section{heading, mark + strings.TrimSpace(part)})
		}
	}
	return all
}

// pieces are a text in parts that codex takes whole, by keys that sort as they follow each other.
func pieces(key, text string) map[string]string {
	if len(text) <= mostPiece {
		return map[string]string{key: text}
	}
	all := map[string]string{}
	for n := 1; text != ""; n++ {
		end := pieceEnd(text)
		all[fmt.Sprintf("%s_part_%03d", key, n)] = text[:end]
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
