package codex

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// A loading is a call that loads a thread.
type loading struct {
	of    string // the thread that is loaded; empty where one is made
	asked appserver.ThreadStartParams
	limit time.Duration
	call  func(context.Context) (appserver.ThreadSession, error)
}

// A loadedThread is how the loading of one has ended.
type loadedThread struct {
	session appserver.ThreadSession // empty where codex has not loaded it
	err     error
}

// loadWith makes the call. A job that is canceled meanwhile does not wait, while codex goes on
// with it: the thread that comes too late is put away, and whoever loads it next waits for that.
func (d *Driver) loadWith(ctx context.Context, on *child.Child, l loading) (appserver.ThreadSession, error) {
	if err := d.whenAway(ctx, l.of); err != nil {
		return appserver.ThreadSession{}, err
	}
	late := make(chan loadedThread, 1)
	d.wg.Go(func() { late <- d.loadInTime(on, l) })
	select {
	case got := <-late:
		if got.err != nil {
			d.putAway(on, got)
		}
		return got.session, got.err
	case <-ctx.Done():
		away := d.goesAway(l.of)
		d.wg.Go(func() {
			defer away()
			d.putAway(on, <-late)
		})
		return appserver.ThreadSession{}, context.Cause(ctx)
	}
}

func (d *Driver) loadInTime(on *child.Child, l loading) (got loadedThread) {
	ctx, cancel := context.WithTimeout(d.root, l.limit)
	defer cancel()
	got.err = on.Attended(ctx, func(ctx context.Context) (err error) {
		if got.session, err = l.call(ctx); err != nil {
			return err
		}
		if len(l.asked.Environments) > 0 {
			return nil // what codex answers of the sandbox is of this machine, where no command of the thread runs
		}
		d.guard.Learn(placesOf(on.Launch), got.session)
		why, err := d.guard.Apart(placesOf(on.Launch), l.asked, got.session)
		if why != "" {
			return child.Unready(why)
		}
		return err
	})
	return got
}

// putAway has codex unload a thread that nobody waits for, if it has loaded it.
func (d *Driver) putAway(on *child.Child, got loadedThread) {
	thread := got.session.Thread.ID
	if thread == "" {
		return
	}
	ctx, cancel := context.WithTimeout(d.root, shortCallTimeout)
	defer cancel()
	if err := on.ThreadUnsubscribe(ctx, thread); err != nil {
		d.log.Warn("a thread that nobody waits for stays loaded", "thread_id", thread, "err", err)
	}
}

// goesAway notes that a thread is about to be put away. The returned function says that it is.
func (d *Driver) goesAway(thread string) func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.goesAwayLocked(thread)
}

// goesAwayLocked is goesAway for a caller that holds d.mu.
func (d *Driver) goesAwayLocked(thread string) func() {
	away := make(chan struct{})
	d.away[thread] = away
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.away[thread] == away {
			delete(d.away, thread)
		}
		close(away)
	}
}

// whenAway waits until a thread is put away that is about to be. A new one has no name, and waits
// for none.
func (d *Driver) whenAway(ctx context.Context, thread string) error {
	d.mu.Lock()
	away := d.away[thread]
	d.mu.Unlock()
	if thread == "" || away == nil {
		return nil
	}
	select {
	case <-away:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
