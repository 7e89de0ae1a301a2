package executor

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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
func (e *Executor) loadWith(ctx context.Context, on *child, l loading) (appserver.ThreadSession, error) {
	if err := e.whenAway(ctx, l.of); err != nil {
		return appserver.ThreadSession{}, err
	}
	late := make(chan loadedThread, 1)
	e.wg.Go(func() { late <- e.loadInTime(on, l) })
	select {
	case got := <-late:
		if got.err != nil {
			e.putAway(on, got)
		}
		return got.session, got.err
	case <-ctx.Done():
		away := e.goesAway(l.of)
		e.wg.Go(func() {
			defer away()
			e.putAway(on, <-late)
		})
		return appserver.ThreadSession{}, context.Cause(ctx)
	}
}

func (e *Executor) loadInTime(on *child, l loading) (got loadedThread) {
	ctx, cancel := context.WithTimeout(e.root, l.limit)
	defer cancel()
	got.err = e.attended(ctx, on, func(ctx context.Context) (err error) {
		if got.session, err = l.call(ctx); err != nil {
			return err
		}
		e.learnWritable(on, got.session)
		e.learnNetwork(got.session)
		return e.apart(on, l.asked, got.session)
	})
	return got
}

// putAway has codex unload a thread that nobody waits for, if it has loaded it.
func (e *Executor) putAway(on *child, got loadedThread) {
	thread := got.session.Thread.ID
	if thread == "" {
		return
	}
	ctx, cancel := context.WithTimeout(e.root, shortCallTimeout)
	defer cancel()
	if err := on.ThreadUnsubscribe(ctx, thread); err != nil {
		e.log.Warn("a thread that nobody waits for stays loaded", "thread_id", thread, "err", err)
	}
}

// goesAway notes that a thread is about to be put away. The returned function says that it is.
func (e *Executor) goesAway(thread string) func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.goesAwayLocked(thread)
}

// goesAwayLocked is goesAway for a caller that holds e.mu.
func (e *Executor) goesAwayLocked(thread string) func() {
	away := make(chan struct{})
	e.away[thread] = away
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.away[thread] == away {
			delete(e.away, thread)
		}
		close(away)
	}
}

// whenAway waits until a thread is put away that is about to be. A new one has no name, and waits
// for none.
func (e *Executor) whenAway(ctx context.Context, thread string) error {
	e.mu.Lock()
	away := e.away[thread]
	e.mu.Unlock()
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
