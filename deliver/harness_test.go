package deliver_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A row is a delivery, as the journal of a test has it.
type row struct {
	due, created time.Time
	tries        int
	state        deliver.State
}

// A post is a journal and its sender, in simulated time.
type post struct {
	start time.Time

	mu      sync.Mutex
	rows    map[string]row
	sent    []string        // in their order, every try
	at      []time.Duration // of the tries
	flying  int
	highest int
	takes   time.Duration                   // each
	deaf    bool                            // it does not hear that it is cut off
	answer  func(try int) deliver.Outcome   // nil has all arrive
	ill     error                           // of the journal's notes
	unread  error                           // of its lists
	room    func(key string) bool           // nil has room
	ended   map[string][]deliver.Settlement // what the room was told
}

func (p *post) Due(_ context.Context, offer func(string, string) bool) (time.Duration, error) {
	p.mu.Lock()
	next, due := deliver.Idle, []string{}
	for key, r := range p.rows {
		if wait := time.Until(r.due); r.state == deliver.Sent || r.state == deliver.Dead || r.state == deliver.Unneeded {
			continue
		} else if wait > 0 {
			next = min(next, wait)
		} else {
			due = append(due, key)
		}
	}
	unread := p.unread
	p.mu.Unlock()
	slices.Sort(due)
	if unread != nil {
		return 0, unread
	}
	for _, key := range due {
		offer(key, key)
	}
	return next, nil
}

func (p *post) Settle(_ context.Context, key string, s deliver.Settlement) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, known := p.rows[key]
	switch {
	case p.ill != nil:
		return p.ill
	case !known:
		return store.ErrUnknown
	}
	r.state, r.tries, r.due = s.State, s.Tries, s.Due
	p.rows[key] = r
	return nil
}

func (p *post) Send(ctx context.Context, key string) deliver.Outcome {
	p.mu.Lock()
	r := p.rows[key]
	if r.due.After(time.Now()) || r.state == deliver.Sent { // it has changed since it was listed
		p.mu.Unlock()
		return deliver.Outcome{}
	}
	p.flying++
	p.highest = max(p.highest, p.flying)
	p.sent, p.at = append(p.sent, key), append(p.at, time.Since(p.start))
	try, answer := len(p.sent), p.answer
	p.mu.Unlock()
	if p.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	sleep.For(ctx, p.takes)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flying--
	if ctx.Err() != nil {
		return deliver.Outcome{Verdict: deliver.Again, Err: context.Cause(ctx)}
	}
	out := deliver.Outcome{Verdict: deliver.Arrived}
	if answer != nil {
		out = answer(try)
	}
	out.Tries, out.Created = r.tries, r.created
	return out
}

func (p *post) Begin(key string) (func(deliver.Settlement), bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room != nil && !p.room(key) {
		return nil, false
	}
	return func(s deliver.Settlement) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended[key] = append(p.ended[key], s)
	}, true
}

func (p *post) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// put has something be due in a while.
func (p *post) put(key string, in time.Duration) {
	p.set(func() { p.rows[key] = row{due: time.Now().Add(in), created: time.Now()} })
}

func (p *post) row(key string) row {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rows[key]
}

// pass has time go by, and all happen that does until then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

type deliverer = deliver.Deliverer[string, string]

var errNot = errors.New("it does not arrive")

// in runs a deliverer in a bubble, ends it, and sees that nothing goes on. Its curve has no
// spread: a test can tell the times.
func in(t *testing.T, most int, f func(p *post, d *deliverer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &post{start: time.Now(), rows: map[string]row{}, ended: map[string][]deliver.Settlement{}}
		d := deliver.New(deliver.Config[string, string]{
			Journal: p, Sender: p, Room: p, Most: most, Curve: deliver.Curve{Longest: 5 * time.Minute},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { d.Run(ctx) })
		synctest.Wait()
		f(p, d)
		cancel()
		running.Wait()
		if p.flying != 0 {
			t.Errorf("%d deliveries go on when Run has returned", p.flying)
		}
	})
}
