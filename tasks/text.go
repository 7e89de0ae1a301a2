package tasks

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
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

// push publishes what of the text may be shown, and with last all of it. The caller
// holds t.mu.
func (t *task) push(a *artifact, last bool) {
	if last {
		t.pushTo(a, a.text.Len(), true)
		return
	}
	if upTo := a.ready(); upTo > a.sent {
		t.pushTo(a, upTo, false)
	}
}

// pushTo publishes the text from where it is published up to another place. The caller
// holds t.mu.
func (t *task) pushTo(a *artifact, upTo int, last bool) {
	if a.before != nil { // the first chunk replaces what was there
		t.artifacts[slices.Index(t.artifacts, a.before)] = a
		t.reordered = true
		a.before.text.Reset()
		a.before = nil
	}
	event := &a2a.TaskArtifactUpdateEvent{
		TaskID: t.id, ContextID: t.contextID,
		Append: a.shown, LastChunk: last,
		Artifact: a.chunk(strings.Clone(a.text.String()[a.sent:upTo]), a.parts[a.put:]), // a slow reader of a chunk must not keep the text
	}
	said := !a.shown || upTo > a.sent || len(a.parts) > a.put
	a.sent, a.put, a.shown, a.closed = upTo, len(a.parts), true, last
	if last {
		t.notifyArtifact(a.snapshot())
	}
	if said { // what was cut off has been shown to its end
		t.says()
		t.publishOf(a, event)
	}
}

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
