package notify_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
)

// nobody has no URL posted to.
func nobody(c *notify.Config) { c.Poster = nil }

// A hangingJournal keeps those who ask for a notice waiting.
type hangingJournal struct {
	notify.Journal
	waiting atomic.Int32
	free    chan struct{}
}

func (j *hangingJournal) Notice(ctx context.Context, task string) (store.Notice, error) {
	j.waiting.Add(1)
	<-j.free
	return j.Journal.Notice(ctx, task)
}

// TestPlaces: sixteen are under way at once, whatever it is that they wait for.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const due = 40
		b := newBench(t)
		for i := range due {
			b.end(fmt.Sprint(i), notify.Local)
		}
		j := &hangingJournal{Journal: b.Store, free: make(chan struct{})}
		b.run(nobody, func(c *notify.Config) { c.Journal = j })
		synctest.Wait()
		if n := j.waiting.Load(); n != 16 {
			t.Errorf("%d are under way at once", n)
		}
		close(j.free)
		for i := range due {
			b.until(fmt.Sprint(i), store.NoticeSent)
		}
	})
}

// A hangingPlatform takes what there is to say, and answers once it is well.
type hangingPlatform struct {
	hears atomic.Int32
	well  atomic.Bool
}

func (p *hangingPlatform) Notify(ctx context.Context, _ notify.Place, _, _ string) error {
	p.hears.Add(1)
	defer p.hears.Add(-1)
	if p.well.Load() {
		return nil
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestCanvasThatHangs has places as a host has, and keeps nobody else waiting.
func TestCanvasThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const due = 40
		b, p := newBench(t), &hangingPlatform{}
		for i := range due {
			b.end(fmt.Sprint(i), notify.Canvas)
		}
		b.end("other", notify.Local)
		d, _ := b.run(nobody, func(c *notify.Config) { c.Platform = p })
		synctest.Wait()
		if n, err := b.Notice(t.Context(), "other"); err != nil || n.Status != store.NoticeSent {
			t.Errorf("the other is %+v, %v", n, err)
		}
		if n := p.hears.Load(); n != 2 {
			t.Errorf("the platform hears %d at once", n)
		}
		time.Sleep(5 * time.Second)
		for range 5 {
			time.Sleep(10 * time.Second) // what it hears now began 5 s ago
			if n := p.hears.Load(); n != 1 {
				t.Errorf("the platform, which has kept some waiting, hears %d at once", n)
			}
		}
		p.well.Store(true)
		time.Sleep(time.Minute) // after which the last that it has heard is tried again
		for i := range due {
			b.until(fmt.Sprint(i), store.NoticeSent)
		}
		p.well.Store(false)
		for i := range due {
			b.end(fmt.Sprint("again-", i), notify.Canvas)
		}
		d.Wake()
		synctest.Wait()
		if n := p.hears.Load(); n != 2 {
			t.Errorf("the platform, which has answered in time, hears %d at once", n)
		}
	})
}
