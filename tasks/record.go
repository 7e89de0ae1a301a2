package tasks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// Text is committed in batches, when so much has collected or so long has passed;
// that a turn has begun, sooner.
const (
	batchSize = 64 << 10
	batchTime = time.Second
	stateTime = 100 * time.Millisecond
)

// mostUnsaved bounds what is held for a journal that takes nothing. Beyond it
// events are let go: streams can then not be resumed across them, and the task
// itself is saved all the same.
const mostUnsaved = 16 << 20

// A recorder collects what of a task is to be committed. The task's lock guards it.
type recorder struct {
	events  []logged
	bytes   int
	head    bool        // the head must be written, too: it could not be
	ended   bool        // so must the artifacts: the task has ended
	said    [][]byte    // of the history: messages of the agent
	jobs    []string    // that have had their turn
	cut     []string    // those of them whose turn was cut off
	unbegun []string    // those of them that have no use for their files
	turn    *store.Turn // what is known of the one that runs
	asks    []store.Question
	drops   []string // ids of questions
	outbox  []store.Delivery
	notice  *store.Notice // of the task's end
	sending int           // bytes of the outbox
	err     error         // of the last write; said once
	timer   *time.Timer
	armed   bool // the timer is running, and counted in Engine.wg
	epoch   int  // the newest that is written down
}

// A logged event has its cursor.
type logged struct {
	at    feed.Cursor
	event a2a.Event
}

// publish appends an event to the log, and to what is to be committed. The task has been changed
// accordingly.
func (t *state) publish(event a2a.Event) { t.publishOf(nil, event) }

// publishOf is publish for an event of an artifact; nil is none.
func (t *state) publishOf(a *artifact, event a2a.Event) {
	t.collect(event)
	t.show(event, a)
	if t.rec.bytes >= batchSize && t.rec.err == nil {
		t.save(store.Change{})
		return
	}
	t.armSave(batchTime)
}

// commit commits a change with an event, which is then published: what it says is true after a crash,
// too.
func (t *state) commit(change store.Change, event a2a.Event) {
	t.collect(event)
	t.save(change)
	t.show(event, nil)
}

// remember takes a message of the agent into the history.
func (t *state) remember(m *a2a.Message) {
	t.history = append(t.history, m)
	t.rec.said = append(t.rec.said, codec.Encode(m))
	t.touch()
}

func (t *state) collect(event a2a.Event) {
	t.touch()
	at := t.feed.Following(t.epoch)
	t.rec.events = append(t.rec.events, logged{at, event})
	t.rec.bytes += sizes.OfEvent(event)
	if t.rec.err != nil && t.rec.bytes > mostUnsaved {
		t.engine.log.Warn("events of a task are let go: they cannot be saved; its streams cannot be resumed across them", "task_id", t.id)
		t.rec.events, t.rec.bytes = nil, 0
	}
}

// show appends an event to the log, and shows what the task and the artifact that it is of, if any,
// are with it. The first one of an epoch is committed before: the
// next process must not take that epoch for its own.
func (t *state) show(event a2a.Event, of *artifact) {
	if t.epoch > t.rec.epoch && t.rec.err == nil {
		t.save(store.Change{})
	}
	u := feed.Update{Event: event, Epoch: t.epoch, Last: t.status.State.Terminal(), Face: t.face(), Order: t.order()}
	if of != nil {
		u.Artifact, u.Piece = of.shownAs, of.published()
	}
	t.feed.Show(u)
	t.unseen = false
	if t.rec.err == nil { // the journal has what is let go of, or will be asked to save it first
		t.feed.LetGo(t.engine.behind)
	}
}

// save writes the change, with everything that waits to be written. What cannot be written now is tried
// again until it can: the turn goes on meanwhile.
func (t *state) save(change store.Change) {
	r := &t.rec
	r.head = r.head || change.Head != nil
	r.ended = t.status.State.Terminal()
	r.jobs, r.cut = append(r.jobs, change.Ended...), append(r.cut, change.Cut...)
	r.unbegun = append(r.unbegun, change.Unbegun...)
	r.know(change.Turn)
	r.ask(change.Ask)
	r.drop(change.Drop)
	change.Ask, change.Drop = r.asks, r.drops
	if change.Notice != nil {
		r.notice = change.Notice
	}
	change.History, change.Outbox, change.Notice = r.said, r.outbox, r.notice
	change.Task, change.Epoch, change.Ended, change.Cut, change.Turn = string(t.id), t.epoch, r.jobs, r.cut, r.turn
	change.Unbegun = r.unbegun
	if r.head {
		row := t.row()
		change.Head = &row
	}
	if r.ended {
		change.Artifacts = codec.EncodeAll(t.snapshot().Artifacts)
	}
	var err error
	if change.Events, err = batches(r.events); err == nil {
		err = t.engine.cfg.Journal.Write(context.Background(), change)
	}
	if err != nil {
		t.unsaved(err)
		return
	}
	t.engine.wakeFor(change.Outbox)
	if w := t.engine.cfg.Workspace; len(change.Drop) > 0 && w != nil && w.Requests != nil { // its buttons go
		w.Requests()
	}
	if change.Notice != nil && t.engine.cfg.Notify != nil {
		t.engine.cfg.Notify.Wake()
	}
	t.saved()
}

// know adds to what is known of a turn.
func (r *recorder) know(turn *store.Turn) {
	if turn == nil {
		return
	}
	known := *turn
	if old := r.turn; old != nil && old.Job == turn.Job && old.Attempt == turn.Attempt {
		known.Thread, known.TurnID = cmp.Or(turn.Thread, old.Thread), cmp.Or(turn.TurnID, old.TurnID)
		known.Tool = turn.Tool || old.Tool
	}
	r.turn = &known
}

// ask adds questions to what is to be committed, or takes their new versions over.
func (r *recorder) ask(asks []store.Question) {
	for _, q := range asks {
		r.unask(q.ID)
		r.asks = append(r.asks, q)
	}
}

// drop takes questions away, also those that were never committed.
func (r *recorder) drop(ids []string) {
	for _, id := range ids {
		r.unask(id)
		r.drops = append(r.drops, id)
	}
}

func (r *recorder) unask(id string) {
	r.asks = slices.DeleteFunc(r.asks, func(q store.Question) bool { return q.ID == id })
}

// send puts a delivery into what is to be committed. A journal that takes nothing for long costs the
// older ones, but never the reply to the user, of which there is one.
func (t *state) send(d store.Delivery) {
	r := &t.rec
	if r.sending += len(d.Body); r.err != nil && r.sending > mostUnsaved {
		t.engine.log.Warn("push notifications of a task are let go: they cannot be saved", "task_id", t.id, "count", len(r.outbox))
		r.outbox = slices.DeleteFunc(r.outbox, func(d store.Delivery) bool { return d.Kind != late.Kind })
		r.sending = len(d.Body)
	}
	r.outbox = append(r.outbox, d)
}

// dirty reports whether there is something to write.
func (r *recorder) dirty() bool {
	return len(r.events) > 0 || len(r.said) > 0 || len(r.outbox) > 0 || len(r.jobs) > 0 || r.head || r.turn != nil || len(r.asks) > 0 || len(r.drops) > 0
}

// batches encodes events, those of each epoch together.
func batches(events []logged) ([]store.Events, error) {
	var out []store.Events
	for len(events) > 0 {
		first, n := events[0].at, 0
		var batch []a2a.Event
		for n < len(events) && events[n].at.Epoch == first.Epoch && events[n].at.Seq == first.Seq+int64(n) {
			batch = append(batch, events[n].event)
			n++
		}
		body, err := codec.EncodeEvents(batch)
		if err != nil {
			return nil, err
		}
		out = append(out, store.Events{First: first.Seq, Last: first.Seq + int64(n) - 1, Epoch: first.Epoch, Body: body})
		events = events[n:]
	}
	return out, nil
}

func (t *state) saved() {
	if t.rec.err != nil {
		t.engine.log.Info("a task is saved again", "task_id", t.id)
	}
	ended := t.rec.ended
	t.headWaits.Store(false)
	t.disarmSave()
	t.rec = recorder{timer: t.rec.timer, armed: t.rec.armed, epoch: t.epoch}
	if ended {
		t.engine.forget(t.task)
	}
}

func (t *state) unsaved(err error) {
	if t.rec.err == nil {
		t.engine.log.Error("a task could not be saved; this is tried again each second", "task_id", t.id, "state", t.status.State, "err", err)
	}
	t.rec.err = err
	t.armSave(batchTime)
}

// armSave starts the timer of the next save, unless it runs.
func (t *state) armSave(after time.Duration) {
	r := &t.rec
	if r.armed || t.engine.root.Err() != nil {
		return
	}
	r.armed = true
	t.engine.wg.Add(1)
	if r.timer == nil {
		r.timer = time.AfterFunc(after, t.task.saveLater)
		return
	}
	r.timer.Reset(after)
}

func (t *state) disarmSave() {
	if t.rec.armed && t.rec.timer.Stop() {
		t.rec.armed = false
		t.engine.wg.Done()
	}
}

// saveLater is the timer.
func (t *task) saveLater() {
	defer t.engine.wg.Done()
	t.lock()
	defer t.unlock()
	t.rec.armed = false
	_ = t.flush() // it has said so, and comes again
}

// saveCut writes down that the turn of a message was cut off, if that waits to be written.
func (t *task) saveCut(job string) error {
	t.lock()
	defer t.unlock()
	if !slices.Contains(t.rec.cut, job) {
		return nil
	}
	return t.flush()
}

// flush writes what waits to be written.
func (t *state) flush() error {
	if t.rec.dirty() {
		t.save(store.Change{})
	}
	return t.rec.err
}
