package sim

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

var (
	errDead = errors.New("the runtime is dead")
	errFull = errors.New("the disk is full")
)

// A journal is a store as one life of the runtime has it: it can die, after which nothing is written or read any
// more, and writes to it can fail, or take their time.
type journal struct {
	*store.Store
	w       *world
	life    int
	dead    atomic.Bool
	writes  atomic.Int64
	busy    atomic.Int64  // writes on their way
	strikes func(n int64) // called before the n-th write
}

// may reports why a read cannot be.
func (j *journal) may() error {
	if j.dead.Load() {
		return errDead
	}
	return nil
}

// write does a write, if it can be. One that was on its way when the runtime died may have been done, unheard.
func (j *journal) write(do func() error) error {
	j.busy.Add(1)
	defer j.busy.Add(-1)
	n := j.writes.Add(1)
	j.strikes(n)
	switch name := []any{"write", j.life, n}; {
	case j.dead.Load():
		return errDead
	case j.w.isFull(), j.w.happens(j.w.weather.commitFails, name...):
		return errFull
	case j.w.happens(10, append(name, "stalls")...):
		time.Sleep(j.w.chance.of(append(name, "for")...).between(time.Millisecond, time.Second))
	}
	if err := do(); err != nil {
		return err
	}
	return j.may()
}

// Accept and the methods below are those of the store that write, or are read to decide what is written.
func (j *journal) Accept(ctx context.Context, m store.Message, head store.Head) error {
	return j.write(func() error { return j.Store.Accept(ctx, m, head) })
}

func (j *journal) Replace(ctx context.Context, m store.Message, head store.Head) error {
	return j.write(func() error { return j.Store.Replace(ctx, m, head) })
}

func (j *journal) Withdraw(ctx context.Context, job string, head *store.Head) error {
	return j.write(func() error { return j.Store.Withdraw(ctx, job, head) })
}

func (j *journal) Write(ctx context.Context, change store.Change) error {
	return j.write(func() error { return j.Store.Write(ctx, change) })
}

func (j *journal) Sync(ctx context.Context) error {
	return j.write(func() error { return j.Store.Sync(ctx) })
}

func (j *journal) Begin(ctx context.Context, job string, attempt int, conversation, thread, model, tools string) error {
	return j.write(func() error { return j.Store.Begin(ctx, job, attempt, conversation, thread, model, tools) })
}

func (j *journal) Vanished(ctx context.Context, job string, attempt int) (n int, err error) {
	err = j.write(func() error {
		n, err = j.Store.Vanished(ctx, job, attempt)
		return err
	})
	return n, err
}
