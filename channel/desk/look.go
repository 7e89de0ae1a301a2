package desk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
)

// backWithin is how long messages are waited for that lay on the desk of an earlier process.
const backWithin = 2 * time.Second

// ErrNone says that no message has come.
var ErrNone = errors.New("no message")

// A Seen is a message as it lies on the desk.
type Seen struct {
	channel.Message
	Behind int  // how many lie behind it
	More   bool // and there are more, for which the desk has no room
}

// Wait shows the first message, which may come within a limit; it stays where it is. [ErrNone] says that none has come.
func (d *Desk) Wait(ctx context.Context, limit time.Duration) (Seen, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		seen, news, again, err := d.first()
		if news == nil {
			return seen, err
		}
		var back <-chan time.Time
		if again > 0 {
			back = time.After(again)
		}
		select {
		case <-news:
		case <-back:
		case <-timer.C:
			return Seen{}, ErrNone
		case <-ctx.Done():
			return Seen{}, context.Cause(ctx)
		}
	}
}

// first shows the first message; without one news is what to wait for, and again when to look without news.
func (d *Desk) first() (seen Seen, news chan struct{}, again time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed != nil {
		return Seen{}, nil, 0, d.closed
	}
	waiting := d.waiting()
	if len(waiting) == 0 {
		return Seen{}, d.news, 0, nil
	}
	it := waiting[0]
	if left := backWithin - time.Since(d.began); left > 0 && d.missingBefore(it.N) {
		return Seen{}, d.news, left, nil
	}
	it.shown = true
	return Seen{Message: it.Message, Behind: len(waiting) - 1, More: d.more}, nil, 0, nil
}

// waiting are the messages of which nothing has become yet. The caller holds the mutex.
func (d *Desk) waiting() []*item {
	return slices.DeleteFunc(slices.Clone(d.items), func(it *item) bool { return !d.waits(it) })
}

// waits reports whether nothing has become of a message yet, and something can. The caller holds the mutex.
func (d *Desk) waits(it *item) bool { return it != nil && !it.leaving && !d.left[it.Workspace] }

// missingBefore reports whether a message lay before that number which is not back. The caller holds the mutex.
func (d *Desk) missingBefore(n int64) bool {
	for row := range d.missing {
		if row < n {
			return true
		}
	}
	return false
}

// Peek shows messages from the first on; more says that there are others behind them.
func (d *Desk) Peek(limit int) (all []Seen, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting := d.waiting()
	for i, it := range waiting[:min(limit, len(waiting))] {
		it.shown = true
		all = append(all, Seen{Message: it.Message, Behind: len(waiting) - 1 - i, More: d.more})
	}
	return all, d.more || len(waiting) > limit
}

// Look shows a message by its id, and reports whether it lies there.
func (d *Desk) Look(id string) (Seen, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	it := d.named(id)
	if !d.waits(it) {
		return Seen{}, false
	}
	it.shown = true
	return Seen{Message: it.Message, More: d.more}, true
}

// named returns the item of a message; nil if there is none. The caller holds the mutex.
func (d *Desk) named(id string) *item {
	at := slices.IndexFunc(d.items, func(it *item) bool { return strings.EqualFold(it.ID, id) })
	if at < 0 {
		return nil
	}
	return d.items[at]
}
