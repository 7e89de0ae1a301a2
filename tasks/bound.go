package tasks

import (
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// mostText is the default of [Config.MostText]. For a moment the end of a task takes some
// eight times what its texts do: it is encoded, committed and sent.
const mostText = 16 << 20

// mostTexts is how many times that much the texts of all tasks have together that have not ended.
const mostTexts = 8

// answerShare is the part of the bound that the answer of a turn has in any case: also that
// of a later turn of a task that is full.
const answerShare = 16

// room is how much text an artifact may have: what the others of its task leave, and those of all
// tasks, and what an answer has in any case. The caller holds t.mu.
func (r *run) room(a *artifact) int {
	e := r.task.engine
	left := min(e.cfg.MostText-r.task.texts, mostTexts*e.cfg.MostText-int(e.texts.Load())) + a.text.Len()
	if a.before != nil {
		left += a.before.text.Len()
	}
	return max(left, r.share(a, left), 0)
}

// share is how much an answer has in any case, or less where so much is left.
func (r *run) share(a *artifact, left int) int {
	share := r.task.engine.cfg.MostText / answerShare
	if left >= share || a.name != keys.NameMessage || rank(a) == 0 {
		return 0
	}
	for _, other := range r.texts {
		if other != a && rank(other) > 0 {
			share -= other.text.Len()
		}
	}
	return share
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
