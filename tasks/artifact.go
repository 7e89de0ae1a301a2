package tasks

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// An artifact is the text of one agent message, with the files that it names behind it,
// a diff, or parts that came whole. Published chunks are slices of the text: a builder
// never changes what it has handed out.
type artifact struct {
	id     a2a.ArtifactID
	name   string
	media  string // of its text; empty means plain
	phase  string
	before *artifact // whose place it will take; nil if it has one
	text   *countedText
	parts  a2a.ContentParts // behind the text, or in its place
	most   int              // bytes of text that there is room for (bound.go)
	all    int              // bytes of text that have come while it was written
	sent   int              // bytes of text that are published
	put    int              // parts that are
	shown  bool             // something was published
	whole  bool             // its text is: only files that it names may come
	closed bool             // the last chunk was published
	frozen *a2a.Artifact

	shownAs *feed.Artifact // what readers see of it
}

// snapshot returns what of the artifact is published.
func (a *artifact) snapshot() *a2a.Artifact {
	if a.frozen != nil {
		return a.frozen
	}
	out := a.published().Artifact()
	if a.closed {
		a.frozen = out
	}
	return out
}

// published is what of the artifact is.
func (a *artifact) published() feed.Piece { return a.piece(a.text.String()[:a.sent], a.parts[:a.put]) }

func (a *artifact) piece(text string, parts a2a.ContentParts) feed.Piece {
	return feed.Piece{ID: a.id, Name: a.name, Media: a.media, Phase: a.phase, Text: text, Parts: parts}
}

func (a *artifact) chunk(text string, parts a2a.ContentParts) *a2a.Artifact {
	return a.piece(text, parts).Artifact()
}

// restore adds to an artifact what an event of an earlier process has shown of it.
func (a *artifact) restore(shown *a2a.Artifact, adds bool) {
	if !adds {
		a.text.Reset()
		a.parts = nil
	}
	for _, part := range shown.Parts {
		if _, isText := part.Content.(a2a.Text); isText {
			a.text.WriteString(part.Text())
			a.media = part.MediaType
		} else {
			a.parts = append(a.parts, part)
		}
	}
	a.sent, a.put, a.shown, a.name = a.text.Len(), len(a.parts), true, shown.Name
	a.phase, _ = shown.Metadata[keys.Phase].(string)
	a.shownAs = feed.Restored(a.published())
}

// longestBlank is how far back the last character is looked for that there is to see.
const longestBlank = 64

// ready is how much of a text may be shown before its end is known. The last character
// that there is to see is kept for the last chunk, which readers take for the end of the
// answer, or for all of it: it must not be empty.
func (a *artifact) ready() int {
	text := a.text.String()
	from := max(a.sent, len(text)-longestBlank)
	seen := from + len(strings.TrimRightFunc(text[from:], unicode.IsSpace))
	if seen == from {
		return a.sent
	}
	_, last := utf8.DecodeLastRuneInString(text[:seen])
	return max(a.sent, seen-last)
}

// add adds a piece to a text while there is room for it. What comes behind a cut is counted.
func (a *artifact) add(piece string) {
	if a.all == a.text.Len() {
		a.text.WriteString(brief.Head(piece, a.most-a.text.Len()))
	}
	a.all += len(piece)
}

// cutOff reports whether a text that is not whole lacks something at its end.
func (a *artifact) cutOff() bool { return !a.whole && a.all > a.text.Len() }

// fitted is a whole text as far as there is room for it, and a line that says what is
// missing. Of an empty one, a provider's slip, what was streamed is all there is.
func (a *artifact) fitted(text string) string {
	kept, all := a.text.String(), a.all
	switch {
	case text != "":
		kept, all = brief.Head(text, a.most), len(text)
	case !a.cutOff():
		return kept
	}
	if len(kept) == all {
		return kept
	}
	return kept + a.cutLine(len(kept), all)
}

// cutLine says that a text was cut, and where the rest is.
func (a *artifact) cutLine(kept, all int) string {
	what, where := "text", "all of it is in codex's own thread"
	if a.media == keys.MediaDiff {
		what, where = "diff", "the files have all of it"
	}
	line := fmt.Sprintf("[the %s was cut here: it had %d bytes, and the runtime had room for %d; %s]", what, all, kept, where)
	if kept > 0 {
		line = "\n\n" + line
	}
	return line
}

// hands reports whether an artifact is a file that a turn has made.
func (a *artifact) hands() bool {
	_, ok := attach.KeptOf(first(a.parts))
	return ok && a.text.Len() == 0
}

func first(parts a2a.ContentParts) *a2a.Part {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}

func rank(a *artifact) int { return rankOf(a.phase) }

func rankOf(phase string) int {
	switch phase {
	case agent.PhaseFinalAnswer:
		return 2
	case agent.PhaseCommentary:
		return 0
	}
	return 1
}

// A countedText is the text of an artifact. Those of a task are counted together, so that
// each next one knows its room without a look at all of them.
type countedText struct {
	text strings.Builder
	of   *state
}

func (t *state) newText() *countedText { return &countedText{of: t} }

func (c *countedText) String() string { return c.text.String() }
func (c *countedText) Len() int       { return c.text.Len() }

func (c *countedText) WriteString(piece string) {
	c.text.WriteString(piece)
	c.of.countText(len(piece))
}

// Reset makes it empty. What was handed out of it stays as it is.
func (c *countedText) Reset() {
	c.of.countText(-c.text.Len())
	c.text.Reset()
}

// countText counts it among the texts of the task, and those of all tasks in memory.
func (t *state) countText(bytes int) {
	t.texts += bytes
	if t.counted {
		t.engine.texts.Add(int64(bytes))
	}
}

// countTexts has the texts of the task count among those of all from now on, or no more.
func (t *state) countTexts(on bool) {
	switch {
	case on && !t.counted:
		t.engine.texts.Add(int64(t.texts))
	case !on && t.counted:
		t.engine.texts.Add(-int64(t.texts))
	}
	t.counted = on
}
