package sim

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// A run is one seed, from the first start of the runtime to the audit.
type run struct {
	dir     string
	world   *world
	story   *story
	books   *books
	log     *slog.Logger
	clients sync.WaitGroup
	over    chan struct{} // closed when the books have been read

	mu      sync.Mutex
	current *life
	born    chan struct{} // closed and replaced at each start
	killAt  int64         // the write before which the present life dies; 0 for none
	startAt int64         // the turn that it dies behind the start of; likewise
}

// Seed makes the run of a seed in a directory, and returns what must not be, with the story of the messages
// concerned. It is to be called in a bubble of testing/synctest.
func Seed(seed uint64, dir string) (faults []string) {
	s := newStory()
	r := &run{dir: dir, world: newWorld(seed, s), story: s, books: newBooks(s), born: make(chan struct{}), over: make(chan struct{})}
	r.log = slog.New(faultLog(r))
	if err := r.start(1); err != nil {
		return []string{err.Error()}
	}
	contexts := 1 + r.world.of("contexts").IntN(3)
	for i := range contexts {
		name := fmt.Sprint("c", i)
		r.clients.Go(func() { r.client(name, 2+r.world.of("messages", name).IntN(8)) })
	}
	for n := range r.world.weather.deaths {
		r.strike(n)
	}
	time.Sleep(3 * time.Minute)
	r.world.settle()
	left := make(chan struct{})
	go func() {
		defer close(left)
		r.clients.Wait()
	}()
	select {
	case <-left:
	case <-time.After(12 * time.Hour):
		r.books.fault(nil, "a client waits for ever")
	}
	l := r.alive()
	for range 360 { // what has not ended in hours of calm never will
		time.Sleep(2 * time.Minute)
		if r.isDone(l) {
			break
		}
	}
	r.audit(l)
	close(r.over)
	l.die(r)
	l.buried.Wait()
	<-left
	return r.told()
}

func faultLog(r *run) slog.Handler {
	return faults{Handler: slog.DiscardHandler, story: r.story, found: func(what string) { r.books.fault(nil, "%s", what) }, lacks: r.books.lacks}
}

// start builds the runtime for the n-th time.
func (r *run) start(n int) error {
	l, err := r.live(n)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = l
	close(r.born)
	r.born = make(chan struct{})
	return nil
}

// alive returns the runtime that lives, once one does; the last one if none will.
func (r *run) alive() *life {
	for {
		r.mu.Lock()
		l, born := r.current, r.born
		r.mu.Unlock()
		if l != nil && !l.journal.dead.Load() {
			return l
		}
		select {
		case <-born:
		case <-r.over:
			return l
		}
	}
}

// strike kills the runtime, at a time or at a write, and has it built anew.
func (r *run) strike(n int) {
	d := r.world.of("strike", n)
	time.Sleep(d.between(time.Second, time.Minute))
	l := r.alive()
	if d.happens(r.world.weather.deathAtCommit) {
		r.aim(l, d)
		select {
		case <-l.over:
		case <-time.After(time.Minute):
		}
	}
	r.mu.Lock()
	r.killAt, r.startAt = 0, 0
	r.mu.Unlock()
	if d.happens(r.world.weather.stops) {
		l.stop(r, d.happens(r.world.weather.drains), d.between(0, time.Minute))
	}
	l.die(r)
	l.buried.Wait()
	time.Sleep(d.between(10*time.Millisecond, 10*time.Second))
	for try := 0; ; try++ {
		if err := r.start(l.n + 1 + try); err == nil {
			return
		} else if try > 50 {
			r.books.fault(nil, "the runtime does not start: %v", err)
			return
		}
		time.Sleep(time.Second)
	}
}

// aim has a life die at a write, or at the start of a turn.
func (r *run) aim(l *life, d draw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.happens(r.world.weather.deathAtStart) {
		r.startAt = l.driver.begun.Load() + 1 + d.Int64N(3)
		return
	}
	r.killAt = l.journal.writes.Load() + 1 + d.Int64N(12)
}

// strikesAtStart kills a life behind the start of the turn that was drawn.
func (r *run) strikesAtStart(l *life) func(int64) {
	return func(n int64) {
		r.mu.Lock()
		due := r.current == l && r.startAt != 0 && n >= r.startAt
		if due {
			r.startAt = 0
		}
		r.mu.Unlock()
		if due {
			l.die(r)
		}
	}
}

// strikesAt kills a life before the write that was drawn.
func (r *run) strikesAt(l *life) func(int64) {
	return func(n int64) {
		r.mu.Lock()
		at := r.killAt
		due := r.current == l && at != 0 && n >= at
		if due {
			r.killAt = 0
		}
		r.mu.Unlock()
		if due {
			l.die(r)
		}
	}
}

// told are the faults with their stories.
func (r *run) told() (all []string) {
	for _, f := range r.books.faults {
		text := f.what
		if f.about != nil {
			text = fmt.Sprintf("message %s: %s\n%s", f.about.id, f.what, r.story.of(r.namesOf(f.about)...))
		}
		all = append(all, strings.TrimRight(text, "\n"))
	}
	return all
}

// namesOf are the names by which a message is known in the story.
func (r *run) namesOf(m *message) []string {
	names := []string{m.id}
	if m.task != "" {
		names = append(names, string(m.task))
	}
	for _, t := range r.world.all {
		for _, client := range t.clients {
			if r.isOf(client, m) {
				names = append(names, jobOf(client))
			}
		}
	}
	return names
}
