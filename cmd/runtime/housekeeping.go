package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Housekeeping of conversations: their threads are files in CODEX_HOME, and rows of
// databases there, that codex keeps for ever.
const (
	idleFor      = 30 * 24 * time.Hour // as long as ended tasks are kept
	tidyEvery    = time.Hour
	surplusEvery = time.Minute
	tidyAtOnce   = 100
	tidyTimeout  = time.Minute
)

// threads are those that the executor has.
type threads interface {
	// Forget lets go of a conversation that is not in use.
	Forget(ctx context.Context, conversation string) error
	// Delete has codex delete a thread that no conversation has any more, if codex runs.
	Delete(ctx context.Context, thread string) error
}

// A sweeper deletes the files of messages that are older than that.
type sweeper interface {
	Sweep(before time.Time) error
}

// A housekeeper forgets conversations that have not been used for a long time, and such as there
// is no room for, with the files of their threads; and it deletes the files that messages of that
// time brought.
type housekeeper struct {
	store   *store.Store
	threads threads
	uploads sweeper
	home    codexHome
	most    func() int64 // bytes of the files of all threads
	log     *slog.Logger

	weighed time.Time // when the conversation was used last that was used last when they were weighed
}

func keepHouse(s settings.Settings, journal *store.Store, threads threads, uploads sweeper, log *slog.Logger) *housekeeper {
	return &housekeeper{store: journal, threads: threads, uploads: uploads, home: codexHome{s.CodexHome, s.User}, most: roomForThreads(s), log: log}
}

// run goes on until ctx ends.
func (h *housekeeper) run(ctx context.Context) {
	tick := time.NewTicker(surplusEvery)
	defer tick.Stop()
	for next := time.Now(); ; {
		if now := time.Now(); !now.Before(next) {
			next = now.Add(tidyEvery)
			h.say(ctx, "old conversations could not be forgotten; this is tried again in an hour", h.tidy(ctx, now.Add(-idleFor)))
			h.say(ctx, "old files of messages could not be deleted; this is tried again in an hour", h.uploads.Sweep(now.Add(-idleFor)))
		}
		h.say(ctx, "conversations that there is no room for could not be forgotten", h.makeRoom(ctx, time.Now()))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (h *housekeeper) say(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		h.log.Warn(what, "err", err) //nolint:sloglint // every caller has a constant
	}
}

// tidy forgets what was not used since a time. It is safe to be cut off anywhere: a thread stays
// on the list of leftovers until its file is gone. None on that list is in use: the executor has
// let go of its conversation before the store did, and the store refuses if a message has come in
// between.
func (h *housekeeper) tidy(ctx context.Context, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	idle, err := h.store.Idle(ctx, before, tidyAtOnce)
	if err != nil {
		return err
	}
	for _, key := range idle {
		if err := h.forget(ctx, key, before); err != nil {
			return err
		}
	}
	return h.sweep(ctx)
}

// forget lets a conversation go that was not used since a time, unless it is in use.
func (h *housekeeper) forget(ctx context.Context, key string, before time.Time) error {
	err := h.threads.Forget(ctx, key)
	if err == nil {
		err = h.store.ForgetConversation(ctx, key, before)
	}
	if errors.Is(err, executor.ErrBusy) || errors.Is(err, store.ErrInUse) {
		return nil
	}
	return err
}

// sweep deletes threads that are left over.
func (h *housekeeper) sweep(ctx context.Context) error {
	left, err := h.store.Leftovers(ctx, tidyAtOnce)
	if err != nil {
		return err
	}
	var failed error
	for _, thread := range left {
		if ctx.Err() != nil { // each takes a look through the home, which commands may have filled
			return errors.Join(failed, context.Cause(ctx))
		}
		err := h.home.user.Do(func() error { return appserver.RemoveRollout(h.home.dir, thread) })
		if err == nil {
			h.say(ctx, "codex keeps in its databases what it knows of a thread that is gone", h.threads.Delete(ctx, thread))
			err = h.store.DropThreads(ctx, thread)
		}
		failed = errors.Join(failed, err) // one that cannot be removed is not in the way of the others
	}
	return failed
}
