package tasks

import (
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// showDiff shows what the turn has changed, if that is not what was shown. It comes before
// the message that speaks of it, and again when more has changed: for readers who take the
// last artifact for the answer.
func (r *run) showDiff() {
	switch a := r.diff; {
	case r.changed == "" || a != nil && a.text.String() == r.changed:
		return
	case a == nil:
		r.diff = r.task.newArtifact(nameDiff, nameDiff)
	default:
		a.text, a.sent, a.shown, a.frozen = &strings.Builder{}, 0, false, nil
	}
	r.diff.media = mediaDiff
	r.diff.text.WriteString(r.changed)
	r.task.push(r.diff, true)
}

// mostShownAgain bounds the diff that is shown anew before each message: of a longer one
// that would be its whole length for each.
const mostShownAgain = 64 << 10

// showDiffBefore shows it before a message of that phase. A long diff that was shown is
// shown again before the answer only, or at the end of the turn where the model's provider
// does not say which message that is.
func (r *run) showDiffBefore(phase string) {
	if r.diff == nil || phase == appserver.PhaseFinalAnswer || len(r.changed) <= mostShownAgain {
		r.showDiff()
	}
}

// settleDiff shows the diff of the whole turn; what was changed and changed back is none.
func (r *run) settleDiff(diff string) {
	if r.changed = diff; diff == "" {
		r.dropDiff()
	}
	r.showDiff()
}

// dropDiff leaves it to the end of the turn what becomes of the diff that was shown.
func (r *run) dropDiff() {
	if r.diff != nil {
		r.void = append(r.void, r.diff)
	}
	r.diff, r.changed = nil, ""
}
