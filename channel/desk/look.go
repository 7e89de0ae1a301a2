package desk

import (
	"cmp"
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
	if left := backWithin - time.Since(d.began); left > 0 && d.missingBefore(it) {
		return Seen{}, d.news, left, nil
	}
	it.shown = true
	return Seen{Message: it.Message, Behind: len(waiting) - 1, More: d.more}, nil, 0, nil
}

// waiting are the messages of which nothing has become yet, as they are shown: first those of the users, in the order of
// acceptance, and then those of other agents, one of each in turn. However much an agent sends, the user waits for none of
// it, and another agent for one message. The caller holds the mutex.
func (d *Desk) waiting() []*item {
	all := slices.DeleteFunc(slices.Clone(d.items), func(it *item) bool { return !d.waits(it) })
	turns, ahead := make(map[*item]int, len(all)), map[string]int{}
	for _, it := range all {
		if it.Peer != "" {
			ahead[it.sender()]++
			turns[it] = ahead[it.sender()]
		}
	}
	slices.SortStableFunc(all, func(a, b *item) int {
		return cmp.Or(cmp.Compare(turns[a], turns[b]), cmp.Compare(d.turns[a.sender()], d.turns[b.sender()]))
	})
	return all
}

// sender names the other agent that a message is of; "" is a user.
func (it *item) sender() string {
	if it.Peer == "" {
		return ""
	}
	return it.Workspace + " " + strings.ToLower(it.Peer)
}

// mostTurns are the senders of which it is known when they had their turn. It is more than can lie here.
const mostTurns = 2 * mostMessages

// hadTurn puts the sender of a message behind the others. The caller holds the mutex.
func (d *Desk) hadTurn(it *item) {
	if it.Peer == "" {
		return
	}
	if len(d.turns) >= mostTurns {
		clear(d.turns)
	}
	d.gone++
	d.turns[it.sender()] = d.gone
}

// waits reports whether nothing has become of a message yet, and something can. The caller holds the mutex.
func (d *Desk) waits(it *item) bool { return it != nil && !it.leaving && !d.left[it.Workspace] }

// missingBefore reports whether a message may lie before one that is not back: of an earlier number, or the user's, if
// this is another agent's. The caller holds the mutex.
func (d *Desk) missingBefore(it *item) bool {
	for row := range d.missing {
		if row < it.N || it.Peer != "" {
			return true
		}
	}
	return false
}

// Peek shows messages of some kind from one on, the first by 0; more says that there are others behind them.
func (d *Desk) Peek(from, limit int, kind func(channel.Message) bool) (all []Seen, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting := slices.DeleteFunc(d.waiting(), func(it *item) bool { return !kind(it.Message) })
	waiting = waiting[min(from, len(waiting)):]
	for i, it := range waiting[:min(limit, len(waiting))] {
		it.shown = true
		all = append(all, Seen{Message: it.Message, Behind: len(waiting) - 1 - i, More: d.more})
	}
	return all, d.more || len(waiting) > limit
}

// Look shows a message by its name; it fails with [ErrNotThere], or [ErrSeveral].
func (d *Desk) Look(ctx context.Context, of Name) (Seen, error) {
	of, err := d.one(ctx, of)
	if err != nil {
		return Seen{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	it := d.named(of)
	if !d.waits(it) {
		return Seen{}, ErrNotThere
	}
	it.shown = true
	return Seen{Message: it.Message, More: d.more}, nil
}

// named returns the item of a message; nil if there is none, or several are called so but for the case. The caller holds
// the mutex.
func (d *Desk) named(of Name) *item {
	var like []*item
	for _, it := range d.items {
		switch {
		case of.Workspace != "" && it.Workspace != of.Workspace:
		case it.ID == of.ID:
			return it
		case strings.EqualFold(it.ID, of.ID):
			like = append(like, it)
		}
	}
	if len(like) != 1 {
		return nil
	}
	return like[0]
}
