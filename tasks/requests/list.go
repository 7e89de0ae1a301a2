package requests

import (
	"context"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
)

// How often the list is asked for, by how long ago a request was put up last: those who have just
// been asked are there.
const (
	soon      = 2 * time.Second
	later     = 5 * time.Second
	slowly    = 15 * time.Second
	lookUntil = 2 * time.Minute
	waitUntil = 10 * time.Minute
	// timeout is how long a request to the platform may take.
	timeout = 20 * time.Second
	// whole is how often the journal is looked at for questions that are over.
	whole = 15 * time.Second
)

// list reads the platform's list where something may stand in it and it is time; nil if it was not
// read, or could not be: then it is read again.
func (b *Board) list(ctx context.Context) map[string]Listed {
	wanted := false
	for _, r := range b.open {
		_, ok := listed(r.row.Target)
		wanted = wanted || ok || r.row.Target == "" && r.unsure
	}
	if !wanted || time.Until(b.readAt) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	all, err := b.cfg.Platform.List(ctx)
	if err != nil {
		level := slog.LevelWarn
		if b.unread > 0 {
			level = slog.LevelDebug
		}
		b.log.Log(ctx, level, "the decisions of the user cannot be read; this is tried again", "err", err)
		b.readAt = time.Now().Add(curve().After(b.unread, 0))
		b.unread++
		return nil
	}
	b.unread, b.readAt = 0, time.Now().Add(b.pace())
	list := make(map[string]Listed, len(all))
	for i, at := range all {
		at.place = i
		list[at.ID] = at
	}
	return list
}

func (b *Board) pace() time.Duration {
	switch age := time.Since(b.newest); {
	case age < lookUntil:
		return soon
	case age < waitUntil:
		return later
	}
	return slowly
}

// next is when there is something to do again.
func (b *Board) next() time.Duration {
	if len(b.open) == 0 {
		return deliver.Idle
	}
	wait := whole
	for _, r := range b.open {
		due := r.due
		if _, ok := listed(r.row.Target); (ok || r.row.Target == "" && r.unsure) && b.readAt.After(due) {
			due = b.readAt
		} else if due.IsZero() {
			continue
		}
		wait = min(wait, max(time.Until(due), 10*time.Millisecond))
	}
	return wait
}
