// Package retention forgets what is kept of conversations and files: what has not been used for a long time, and
// what there is no room for. Threads are files in CODEX_HOME, and rows of databases there, that codex keeps for ever.
package retention

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// IdleFor is how long what is not used is kept: as long as ended tasks are.
const IdleFor = 30 * 24 * time.Hour

const (
	tidyEvery    = time.Hour
	surplusEvery = time.Minute
	tidyAtOnce   = 100
	tidyTimeout  = time.Minute
	mostDeleted  = 10_000 // threads that are deleted at once
)

// Threads are those that the executor has.
type Threads interface {
	// Forget lets go of a conversation that is not in use, and in which no command runs.
	Forget(ctx context.Context, conversation string) error
	// Drop lets go of one that is not in use, and ends what runs in it.
	Drop(ctx context.Context, conversation string) error
	// Delete has codex delete a thread that no conversation has any more.
	Delete(ctx context.Context, thread string) error
}

// A Sweeper deletes the files of messages that are older than that.
type Sweeper interface {
	Sweep(before time.Time) error
}

// A Keeper forgets conversations that have not been used for a long time, and such as there
// is no room for, with the files of their threads; and it deletes the files that messages of that
// time brought.
type Keeper struct {
	store     *store.Store
	threads   Threads
	uploads   Sweeper
	files     rollout.Home
	most      func() int64                                   // bytes of the files of all threads
	isPeers   func(conversation string) bool                 // whether it is another agent's
	forgotten func(ctx context.Context, conversation string) // nil is nothing
	log       *slog.Logger

	weighed weighing
	over    bool // threads may be left over
}

// A Config says what is kept, and where.
type Config struct {
	Home    string       // CODEX_HOME
	User    *asuser.User // whose it is; nil is ours
	Most    int64        // bytes that the files of all threads may take, on a disk that is large enough
	Store   *store.Store
	Threads Threads
	Files   Sweeper
	IsPeers func(conversation string) bool // whether it is another agent's
	// Forgotten is told of each conversation that was let go; nil is nothing.
	Forgotten func(ctx context.Context, conversation string)
	Logger    *slog.Logger
}

// New returns what keeps to cfg while its Run goes on.
func New(cfg Config) *Keeper {
	return &Keeper{
		store: cfg.Store, threads: cfg.Threads, uploads: cfg.Files, files: rollout.Home{Dir: cfg.Home, User: cfg.User},
		most: func() int64 { return store.ShareOfDisk(cfg.Home, cfg.Most) }, isPeers: cfg.IsPeers, forgotten: cfg.Forgotten, log: cfg.Logger,
	}
}

// Run goes on until ctx ends.
func (h *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(surplusEvery)
	defer tick.Stop()
	for next := time.Now(); ; {
		if now := time.Now(); !now.Before(next) {
			next, h.over = now.Add(tidyEvery), true
			h.say(ctx, "old conversations could not be forgotten; this is tried again in an hour", h.tidy(ctx, h.store.Aged().Add(-IdleFor)))
			h.say(ctx, "old files of messages could not be deleted; this is tried again in an hour", h.uploads.Sweep(h.store.Aged().Add(-IdleFor)))
		}
		h.say(ctx, "conversations that there is no room for could not be forgotten; this is tried again in a minute", h.makeRoom(ctx, time.Now()))
		if h.over {
			h.say(ctx, "threads of conversations that are forgotten could not be deleted; this is tried again in an hour", h.sweep(ctx))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (h *Keeper) say(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		h.log.Warn(what, "err", err) //nolint:sloglint // every caller has a constant
	}
}

// A tally is the first of many errors, and how many there are.
type tally struct {
	first error
	n     int
}

func (t *tally) add(err error) {
	if err != nil {
		t.first, t.n = cmp.Or(t.first, err), t.n+1
	}
}

func (t *tally) err() error {
	if t.n > 1 {
		return fmt.Errorf("%w (and %d more)", t.first, t.n-1)
	}
	return t.first
}

// tidy forgets what was not used since a time. It is safe to be cut off anywhere: a thread stays
// on the list of leftovers until it is deleted. None on that list is in use: the executor has
// let go of its conversation before the store did, and the store refuses if a message has come in
// between.
func (h *Keeper) tidy(ctx context.Context, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	idle, err := h.store.IdleConversations(ctx, before, tidyAtOnce)
	if err != nil {
		return err
	}
	_, err = h.forget(ctx, idle)
	return err
}

// forget lets conversations go, unless they are in use or were used since they were listed, and
// returns how many went. A command that was left running keeps the user's, and no other agent's:
// those have any number. One that cannot be let go is not in the way of the others.
func (h *Keeper) forget(ctx context.Context, all []store.UsedConversation) (gone int, _ error) {
	var failed tally
	for _, c := range all {
		if ctx.Err() != nil {
			failed.add(context.Cause(ctx))
			break
		}
		letGo := h.threads.Forget
		if h.isPeers(c.Key) {
			letGo = h.threads.Drop
		}
		err := letGo(ctx, c.Key)
		if err == nil {
			err = h.store.ForgetConversation(ctx, c.Key, c.Used)
		}
		switch {
		case err == nil:
			gone++
			if h.forgotten != nil {
				h.forgotten(ctx, c.Key)
			}
		case !inUse(err):
			failed.add(err)
		}
	}
	return gone, failed.err()
}

// sweep deletes threads that are left over: their files, and where codex runs what its databases
// have of them, and their subagents. Where none runs they stay on the list until one does. One
// that cannot be deleted is not in the way of the others.
func (h *Keeper) sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	h.over = false
	over, err := h.store.LeftoverThreads(ctx, mostDeleted)
	if err != nil {
		return err
	}
	left, err := h.files.Remove(over)
	if err != nil {
		return err
	}
	var failed tally
	h.over = len(over) == mostDeleted // then there may be more
	for _, thread := range over {
		if ctx.Err() != nil {
			h.over = true
			break
		}
		err := left[thread]
		if err == nil {
			err = h.delete(ctx, thread)
		}
		if noCodex(err) {
			break
		}
		failed.add(err)
	}
	return failed.err()
}

// delete has codex delete a thread, and takes it off the list.
func (h *Keeper) delete(ctx context.Context, thread string) error {
	err := h.threads.Delete(ctx, thread)
	if err != nil && !isRefusal(err) { // it does not run, ends, or does not answer
		return err
	}
	h.say(ctx, "codex keeps in its databases what it knows of a thread that is gone", err)
	return h.store.DropThreads(ctx, thread)
}
