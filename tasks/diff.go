package tasks

import "strings"

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
