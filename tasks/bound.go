package tasks

import (
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

// room is how much text an artifact may have: what the others of its task leave, and those of all tasks,
// and what an answer has in any case.
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
