package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// durability is what an operation asks of a commit, the weakest first.
type durability int

const (
	reads   durability = iota // changes nothing
	relaxed                   // survives the end of the process, and that of the machine within a second
	durable                   // the same, and is on its way to the disk at once
)

const (
	maxGroup = 256                  // operations of one commit
	readTime = 2 * time.Millisecond // of reads in front of a commit
)

// An operation is work for the writer. It may be run a second time when the
// group that it was in could not be committed.
type operation struct {
	level durability
	run   func(*conn) error
	state atomic.Int32 // waiting, then begun or abandoned
	done  chan error   // has room for the outcome
}

const (
	waiting = iota
	begun
	abandoned
)

// view runs a reading operation and returns its result.
func view[T any](ctx context.Context, s *Store, what string, f func(*conn) (T, error)) (T, error) {
	var result, none T
	err := s.do(ctx, what, reads, func(c *conn) (err error) {
		result, err = f(c)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// do has the writer run an operation and returns its outcome, wrapped with what
// was to be done.
func (s *Store) do(ctx context.Context, what string, level durability, run func(*conn) error) error {
	if err := s.await(ctx, &operation{level: level, run: run, done: make(chan error, 1)}); err != nil {
		return fmt.Errorf("%s: %w", what, explain(s.path, err))
	}
	return nil
}

// Sync returns when everything that was committed before is on the disk, and so
// survives the end of the machine.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.syncer.wait(ctx, s.syncer.all()); err != nil {
		return fmt.Errorf("sync the store: %w", err)
	}
	return nil
}

func (s *Store) await(ctx context.Context, op *operation) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if s.atOnce(op) {
		return <-op.done
	}
	if !s.queue.put(op) {
		return ErrClosed
	}
	select {
	case err := <-op.done:
		return err
	case <-ctx.Done():
		if op.state.CompareAndSwap(waiting, abandoned) {
			return context.Cause(ctx)
		}
		return <-op.done
	}
}

// atOnce runs an operation on its caller's goroutine if nobody uses the connection
// and nobody waits for it: two changes of goroutine cost more than most
// operations. It reports whether it did.
func (s *Store) atOnce(op *operation) bool {
	if !s.turn.TryLock() {
		return false
	}
	defer s.turn.Unlock()
	if !s.queue.idle() {
		return false
	}
	s.serve([]*operation{op})
	return true
}

// write is the writer's goroutine.
func (s *Store) write() {
	defer close(s.stopped)
	for {
		next, closed := s.work()
		if closed {
			return
		}
		s.rest(next)
	}
}

// work does what is asked for, and the end of everything. If there is nothing to
// do it returns when there will be.
func (s *Store) work() (next time.Time, closed bool) {
	for {
		s.turn.Lock() // first, so that what comes in meanwhile makes one group
		ops, closed := s.queue.take()
		switch {
		case len(ops) > 0:
			s.serve(ops)
			s.catchUp()
		case closed:
			s.ended = s.finish()
		default:
			next = s.upkeep.next()
		}
		s.turn.Unlock()
		if len(ops) == 0 {
			return next, closed
		}
	}
}

// serve runs operations that came in together: first those that only read, so
// that they need not wait for the disk, and the others in one transaction. Reads
// that take long must not keep changes waiting in their turn: when time is up,
// those that are left go back to the queue. One is always served: it may be of
// somebody who waits for nothing else.
func (s *Store) serve(ops []*operation) {
	var changes, later []*operation
	start := time.Now()
	for i, op := range ops {
		switch {
		case i > 0 && op.level == reads && time.Since(start) > readTime:
			later = append(later, op)
		case !op.state.CompareAndSwap(waiting, begun):
		case op.level == reads:
			op.done <- op.run(s.conn)
		default:
			changes = append(changes, op)
		}
	}
	if len(changes) > 0 {
		s.commit(changes)
		s.relieve()
	}
	s.queue.putBack(later)
}

// commit runs changes in one transaction and answers each. If the transaction
// fails, each gets one of its own: what does not fit on the disk must not take
// what does fit with it.
func (s *Store) commit(ops []*operation) {
	began := time.Now()
	outcomes, err := s.transact(ops)
	if err == nil {
		if s.timed != nil {
			s.timed(time.Since(began))
		}
		s.commits++
		if s.upkeep.changed() {
			s.queue.signal() // the writer may be waiting for another time
		}
		s.syncer.committed(strictest(ops))
		if s.committed != nil {
			s.committed(s.commits)
		}
		for i, op := range ops {
			op.done <- outcomes[i]
		}
		return
	}
	if len(ops) == 1 {
		ops[0].done <- err
		return
	}
	for i := range ops {
		s.commit(ops[i : i+1])
	}
}

func strictest(ops []*operation) durability {
	level := relaxed
	for _, op := range ops {
		level = max(level, op.level)
	}
	return level
}

// transact runs changes in one transaction. Those that fail leave nothing
// behind. The error is that of the transaction: nothing of it is kept.
func (s *Store) transact(ops []*operation) (_ []error, err error) {
	if _, err := s.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.conn.script("ROLLBACK") // SQLite may have done it already
			s.conn.known.forget()
			s.conn.catalog.backTo(0)
		}
	}()
	if len(ops) == 1 { // a rollback of the whole does what a savepoint would
		if err := ops[0].run(s.conn); err != nil {
			return nil, err
		}
		return make([]error, 1), s.conn.end()
	}
	outcomes := make([]error, len(ops))
	for i, op := range ops {
		if outcomes[i], err = s.conn.attempt(op.run); err != nil {
			return nil, err
		}
	}
	if err := s.conn.end(); err != nil {
		return nil, err
	}
	return outcomes, nil
}

// end commits the transaction.
func (c *conn) end() error {
	_, err := c.exec("COMMIT")
	if err == nil {
		c.catalog.settle()
	}
	return err
}

// attempt runs a change so that it leaves nothing behind if it fails. The second
// error is that of the transaction, which then cannot go on.
func (c *conn) attempt(run func(*conn) error) (outcome, err error) {
	if _, err := c.exec("SAVEPOINT change"); err != nil {
		return nil, err
	}
	mark := c.catalog.mark()
	outcome = run(c)
	if ruinous(outcome) {
		return nil, outcome
	}
	if outcome != nil {
		c.known.forget()
		c.catalog.backTo(mark)
		if _, err := c.exec("ROLLBACK TO change"); err != nil {
			return nil, err
		}
	}
	_, err = c.exec("RELEASE change")
	return outcome, err
}
