package tasks

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// showDiff shows what the turn has changed, if that is not what was shown. It comes before
// the message that speaks of it, and again when more has changed: for readers who take the
// last artifact for the answer. So it is taken back, too, when nothing is left of it. It reports
// whether it was shown.
func (r *run) showDiff() bool {
	if r.changed == "" || r.diff != nil && r.diff.text.String() == r.diff.fitted(r.changed) {
		return false
	}
	if r.diff == nil {
		r.diff = r.diffInPlace()
	}
	a := r.diff
	a.text.Reset()
	a.sent, a.shown, a.frozen, a.media = 0, false, nil, keys.MediaDiff
	a.most = r.room(a)
	a.text.WriteString(a.fitted(r.changed))
	r.task.push(a, true)
	return true
}

// mostShownAgain bounds the diff that is shown anew before each message: of a longer one
// that would be its whole length for each.
const mostShownAgain = 64 << 10

// showDiffBefore shows it before a message of that phase. A long diff that was shown is
// shown again before the answer only, or at the end of the turn where the model's provider
// does not say which message that is; of a task that has told much of its diffs at the end only.
func (r *run) showDiffBefore(phase string) {
	if r.changed == "" {
		r.takeBackDiff()
		return
	}
	if told := &r.task.retold; told.may(ofDiffs, 0) && r.mayShowAgain(phase) && r.showDiff() {
		told.count(ofDiffs, r.diff.text.Len())
	}
}

func (r *run) mayShowAgain(phase string) bool {
	return r.diff == nil || phase == agent.PhaseFinalAnswer || len(r.changed) <= mostShownAgain
}

// settleDiff shows the diff of the whole turn; what was changed and changed back is none.
// A turn that was cut off may not know its diff: what was shown of it stays then, unless
// codex has said that nothing is left.
func (r *run) settleDiff(event agent.Ended) {
	known := r.changed == "" || event.Outcome == agent.Completed
	if r.changed = event.Diff; r.changed == "" && known {
		r.takeBackDiff()
	}
	r.showDiff()
}

// takeBackDiff takes the diff back that was shown, where everything was changed back.
func (r *run) takeBackDiff() {
	if r.diff != nil {
		r.task.takeBack(r.diff)
		r.diff = nil
	}
}

// dropDiff leaves to another attempt what becomes of the diff that was shown.
func (r *run) dropDiff() {
	if r.diff != nil {
		r.void = append(r.void, r.diff)
	}
	r.diff, r.changed = nil, ""
}

// diffInPlace returns the artifact of a diff: that of an earlier attempt, or another one.
func (r *run) diffInPlace() *artifact {
	i := slices.IndexFunc(r.void, func(a *artifact) bool { return a.name == keys.NameDiff && a.media == keys.MediaDiff })
	if i < 0 {
		return r.task.newArtifact(keys.NameDiff, keys.NameDiff)
	}
	a := r.void[i]
	r.void = slices.Delete(r.void, i, i+1)
	return a
}
