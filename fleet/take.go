package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A waiting turn was asked for and has no place yet.
type waiting struct {
	turn   *placement.Turn
	labels string
	since  time.Time
	until  time.Time
}

// Take implements [place.Machines].
func (f *Fleet) Take(ctx context.Context, conversation, labels string) (place.Place, error) {
	w, err := f.ask(conversation, labels)
	if err != nil {
		return nil, &place.NoneError{Why: err.Error()}
	}
	name := w.turn.Machine()
	if name == "" {
		return nil, &place.NoneError{Why: w.turn.Waits().Text, Changed: w.turn.Changed(), Until: w.until}
	}
	p, err := f.open(ctx, name, conversation, w)
	if err == nil {
		f.done(conversation)
		f.cfg.Metrics.Placed(time.Since(w.since))
		return p, nil
	}
	if ctx.Err() != nil {
		f.Abandon(conversation)
		return nil, context.Cause(ctx)
	}
	return nil, f.refusedBy(name, conversation, w, err)
}

// refusedBy has a turn wait whose place could not be opened.
func (f *Fleet) refusedBy(name, conversation string, w *waiting, err error) error {
	f.log.Warn("a place on a machine could not be opened", "machine", name, "err", err)
	f.mu.Lock()
	defer f.mu.Unlock()
	w.turn = w.turn.Refused()
	f.waiting[conversation] = w
	return &place.NoneError{Why: fmt.Sprintf("machine %s has no place for this conversation now: %v", name, err), Changed: f.news, Until: w.until}
}

// needs are the labels that a machine must have for a message that asks for some.
func (f *Fleet) needs(asked string) (placement.Labels, error) {
	labels, err := placement.ParseLabels(asked)
	if err != nil {
		return nil, err
	}
	return placement.Join(f.cfg.Labels, labels)
}

// Labels returns labels that a message asks for, in order, or why no machine here could have them.
func (f *Fleet) Labels(asked string) (string, error) {
	labels, err := placement.ParseLabels(asked)
	if err == nil {
		_, err = placement.Join(f.cfg.Labels, labels)
	}
	return labels.String(), err
}

// ask is for a turn of a conversation: the one that waits, or another.
func (f *Fleet) ask(conversation, labels string) (*waiting, error) {
	needs, err := f.needs(labels)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.waiting[conversation]
	if w != nil && w.labels != labels {
		w.turn.End()
		w = nil
	}
	if w == nil {
		turn := f.placer.Place(placement.Ask{Conversation: conversation, Needs: needs, Movable: true})
		w = &waiting{turn: turn, labels: labels, since: time.Now(), until: time.Now().Add(f.cfg.Wait)}
		f.waiting[conversation] = w
	}
	return w, nil
}

func (f *Fleet) done(conversation string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, conversation)
}

// Abandon implements [place.Machines].
func (f *Fleet) Abandon(conversation string) {
	f.mu.Lock()
	w := f.waiting[conversation]
	delete(f.waiting, conversation)
	f.mu.Unlock()
	if w != nil {
		w.turn.End()
	}
}

// errGone is why a machine has no place that was chosen and is not up any more.
var errGone = errors.New("it does not answer")

// errLong is that it took too long.
var errLong = fmt.Errorf("its folder was not there after %v", openTime)

// openTime bounds the opening of a place, the bringing of files included.
const openTime = 2 * time.Minute

// open opens the place of a conversation on a machine.
func (f *Fleet) open(ctx context.Context, name, conversation string, w *waiting) (*placed, error) {
	m := f.named(name)
	if m == nil {
		return nil, errGone
	}
	in := m.staying()
	if in == nil {
		return nil, errGone
	}
	ctx, cancel := context.WithTimeoutCause(ctx, openTime, errLong)
	defer cancel()
	ctx, lose := context.WithCancelCause(ctx)
	defer context.AfterFunc(in.ctx, func() { lose(context.Cause(in.ctx)) })()
	defer lose(nil)
	m.hold()
	id, at, news, err := m.folder(ctx, in, conversation, f.whence(conversation, name))
	if err == nil {
		err = f.record(ctx, conversation, name)
	}
	if err != nil {
		m.free()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	p := m.placed(conversation, id, at, in, name, f.tells(conversation, news))
	p.room = w.turn
	if m.isShared() {
		if err := p.reserve(ctx); err != nil {
			p.giveBack()
			return nil, err
		}
	}
	return p, nil
}

// record keeps where a conversation is, if that is news.
func (f *Fleet) record(ctx context.Context, conversation, name string) error {
	f.mu.Lock()
	known := f.recorded[conversation] == name
	f.mu.Unlock()
	if known {
		return nil
	}
	if err := f.cfg.Journal.RecordPlacement(ctx, conversation, name); err != nil {
		return fmt.Errorf("keep where the conversation is: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recorded[conversation] = name
	return nil
}

// folder is where a conversation works on a machine. A shared one is asked for once in a stay.
func (m *member) folder(ctx context.Context, in *stay, conversation, from string) (id string, at wire.Place, news string, err error) {
	if m.f.cfg.Files == wire.FilesGit {
		return m.tree(ctx, in, conversation, from)
	}
	const shared = "shared"
	at, known := in.opened(shared)
	if !known {
		at, err = m.machine.Place(ctx, shared, wire.Want{Files: wire.FilesShared, Dir: m.f.cfg.Dir})
	}
	if err == nil && !known {
		in.open(shared, at)
	}
	return shared, at, moved(from, ""), err
}

// moved is what is said of a conversation that has moved from a machine.
func moved(from, files string) string {
	if from == "" {
		return ""
	}
	return fmt.Sprintf("This conversation goes on on another machine than before: %s is not there, or takes no more turns. Programs that were left running there are gone.%s", from, files)
}
