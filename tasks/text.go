package tasks

import (
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// begin makes the artifact of a message that has begun. An id that comes again
// means another message.
func (r *run) begin(item agent.Item) *artifact {
	if a := r.open[item.ID]; a != nil && !a.closed && !a.whole {
		return a
	}
	if r.open == nil {
		r.open = map[string]*artifact{}
	}
	r.closeWhole()
	r.showDiffBefore(item.Phase)
	a := r.inPlaceOfVoid()
	if a == nil {
		a = r.task.newArtifact(item.ID, keys.NameMessage)
	}
	a.phase = item.Phase
	a.most = r.room(a)
	r.open[item.ID] = a
	r.texts = append(r.texts, a)
	return a
}

// inPlaceOfVoid returns an artifact that takes the place of the first message of an
// earlier attempt as soon as there is something to show, and not before. It returns
// nil if there is none.
func (r *run) inPlaceOfVoid() *artifact {
	i := slices.IndexFunc(r.void, func(a *artifact) bool { return a.name == keys.NameMessage })
	if i < 0 {
		return nil
	}
	old := r.void[i]
	r.void = slices.Delete(r.void, i, i+1)
	return &artifact{id: old.id, name: old.name, text: r.task.newText(), before: old, shownAs: &feed.Artifact{}}
}

// delta adds to a message. The first piece of a message and every piece after a
// pause are published at once, the others together.
func (r *run) delta(d agent.TextDelta) {
	a := r.open[d.ItemID]
	if a == nil {
		a = r.begin(agent.Item{ID: d.ItemID})
	}
	if a.closed || a.whole || d.Text == "" {
		return
	}
	a.add(d.Text)
	r.hear()
	if a.ready() == a.sent || a.shown && r.armed || !r.task.retold.may(ofDrafts, 0) { // then it is shown when it is whole
		return
	}
	at := time.Now()
	if wait := r.task.engine.cfg.Coalesce - at.Sub(r.flushed); a.shown && wait > 0 {
		r.arm(wait)
		return
	}
	r.flushed = at
	r.task.push(a, false)
}

// hear measures the time to the first text.
func (r *run) hear() {
	if !r.heard && !r.started.IsZero() {
		r.heard = true
		r.task.engine.cfg.Metrics.FirstText(time.Since(r.started))
	}
}

// whole ends a message with its final text, and repairs what was streamed of it:
// by what is missing at its end, or by the text anew.
func (r *run) whole(m agent.Message) {
	a := r.open[m.ItemID]
	if a == nil {
		if m.Text == "" {
			return
		}
		a = r.begin(agent.Item{ID: m.ItemID, Phase: m.Phase})
	}
	final := a.fitted(m.Text)
	phase := a.phase
	if m.Phase != "" {
		phase = m.Phase
	}
	if a.closed && a.text.String() == final && a.phase == phase {
		return
	}
	if final != "" {
		r.hear()
	}
	r.replace(a, final)
	a.phase, a.frozen, a.whole = phase, nil, true
	switch {
	case !a.closed && r.mayHand(a):
		r.task.push(a, false)
		r.unclosed = append(r.unclosed, a)
		return
	case a.shown || final != "":
		r.task.push(a, true)
	}
	a.closed = true
}

// replace makes text the artifact's, without publishing it.
func (r *run) replace(a *artifact, text string) {
	if a.text.String() == text {
		return
	}
	if !strings.HasPrefix(text, a.text.String()[:a.sent]) {
		r.task.retold.count(ofDrafts, a.sent)
		a.sent, a.put, a.shown = 0, 0, false // the next chunk replaces the others
	}
	a.text.Reset()
	a.text.WriteString(text)
}

// finish stops the run's timer and everything else that could come of it.
func (r *run) finish() {
	r.ended = true
	if r.known != nil {
		close(r.known)
		r.known = nil
	}
	r.early, r.thoughts = nil, nil
	r.disarm()
}

// flush publishes what has collected. It is the run's timer.
func (r *run) flush() {
	defer r.task.engine.wg.Done()
	r.task.lock()
	defer r.task.unlock()
	r.armed = false
	if r.ended {
		return
	}
	r.pushAll()
}

// pushAll publishes the text that has collected.
func (r *run) pushAll() {
	r.flushed = time.Now()
	for _, a := range r.texts {
		if a.shown && !a.closed {
			r.task.push(a, false)
		}
	}
}

// pushRest publishes all the text of a turn that is cut off.
func (r *run) pushRest() {
	for _, a := range r.texts {
		if !a.closed && a.sent < a.text.Len() {
			r.task.pushTo(a, a.text.Len(), false)
		}
	}
}

// arm starts the timer, unless it runs.
func (r *run) arm(after time.Duration) {
	if r.armed {
		return
	}
	r.armed = true
	r.task.engine.wg.Add(1)
	if r.timer == nil {
		r.timer = time.AfterFunc(after, r.flush)
		return
	}
	r.timer.Reset(after)
}

// disarm stops the timer. A flush that has begun already waits for the task's
// lock and finds nothing to do.
func (r *run) disarm() {
	if r.armed && r.timer.Stop() {
		r.armed = false
		r.task.engine.wg.Done()
	}
}
