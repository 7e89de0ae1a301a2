package late_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A canvas notes what is said on it, and answers as the test wants.
type canvas struct {
	mu     sync.Mutex
	said   []late.Reply
	answer func(n int) error
}

func (c *canvas) Say(_ context.Context, r late.Reply) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, r)
	if c.answer == nil {
		return nil
	}
	return c.answer(len(c.said))
}

func (c *canvas) heard() []late.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]late.Reply{}, c.said...)
}

type refusal struct{ permanent bool }

func (refusal) Error() string     { return "the platform refuses" }
func (r refusal) Permanent() bool { return r.permanent }

// A bench is a store with replies in its outbox.
type bench struct {
	*store.Store
	t     *testing.T
	ahead atomic.Int64 // of the store's clock
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t}
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Now: func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Store = s
	return b
}

// owe ends a task whose reply is due at a time.
func (b *bench) owe(task, text string, due time.Time) {
	b.t.Helper()
	body, _ := json.Marshal(late.Reply{ID: task + "-m", Text: text, Files: []late.File{{URI: "workspace:/x", Name: "x"}}})
	head := store.Head{ID: task, State: "working", Body: []byte("{}")}
	_ = b.Accept(b.t.Context(), store.Message{TaskID: task, Job: "job-" + task, Body: []byte("{}")}, head)
	err := b.Write(b.t.Context(), store.Change{Head: &head, Outbox: []store.Delivery{{Kind: late.Kind, Body: body, Due: due, Replaces: true}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) run(c *canvas, change ...func(*late.Config)) (d *late.Deliverer, stop func()) {
	cfg := late.Config{Outbox: b.Store, Canvas: c}
	for _, f := range change {
		f(&cfg)
	}
	d = late.New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	b.t.Cleanup(stop)
	return d, stop
}

func (b *bench) until(what string, ok func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("never: %s", what)
		}
	}
}

func (b *bench) left() int {
	rows, err := b.Deliveries(b.t.Context(), late.Kind, 0, 10)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(rows)
}

func TestDeliver(t *testing.T) {
	b, c := newBench(t), &canvas{}
	b.owe("one", "first", time.Time{})
	b.owe("two", "second", time.Now().Add(10*time.Minute))
	d, _ := b.run(c)
	b.until("the first to be said", func() bool { return b.left() == 1 })
	if err := b.ExpediteDeliveries(t.Context(), late.Kind, "two"); err != nil {
		t.Fatal(err)
	}
	d.Wake()
	b.until("the second to be said", func() bool { return b.left() == 0 })
	if said := fmt.Sprint(c.heard()); said != "[{one-m first [{workspace:/x x }]} {two-m second [{workspace:/x x }]}]" {
		t.Errorf("said: %s", said)
	}
}

func TestReplacedAndTakenBack(t *testing.T) {
	b, c := newBench(t), &canvas{}
	b.owe("one", "a question", time.Now().Add(10*time.Minute))
	b.owe("one", "the answer", time.Time{})
	b.owe("two", "heard", time.Time{})
	if err := b.WithdrawDeliveries(t.Context(), late.Kind, "two"); err != nil {
		t.Fatal(err)
	}
	b.run(c)
	b.until("all to be said", func() bool { return b.left() == 0 })
	if said := c.heard(); len(said) != 1 || said[0].Text != "the answer" {
		t.Errorf("said: %v", said)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	now := time.Now().Add(time.Minute)
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	c := &canvas{answer: func(n int) error {
		switch n {
		case 1:
			return refusal{} // 503: again
		case 2:
			return errors.New("nobody there")
		}
		return nil
	}}
	b.owe("one", "first", time.Time{})
	d, stop := b.run(c, func(cfg *late.Config) { cfg.Now = clock })
	for tries := 1; tries < 3; tries++ {
		b.until("a try", func() bool { return len(c.heard()) == tries })
		b.until("the note of it", func() bool {
			rows, _ := b.Deliveries(t.Context(), late.Kind, 0, 1)
			return len(rows) == 1 && rows[0].Tries == tries
		})
		mu.Lock()
		now = now.Add(10 * time.Second)
		mu.Unlock()
		d.Wake()
	}
	b.until("it to arrive", func() bool { return b.left() == 0 })
	stop()
}

// TestGivenUp: what is refused for good, at once; what is refused for now, after a day, and some tries.
func TestGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		permanent bool
		later     time.Duration
		tries     int // before
		left      int
	}{
		"for-good": {true, 0, 0, 0}, "for-now": {false, 23 * time.Hour, 20, 1}, "for-a-day": {false, 25 * time.Hour, 20, 0},
		"after-a-day": {false, 25 * time.Hour, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			never := &canvas{answer: func(int) error { return refusal{permanent: c.permanent} }}
			b.owe("one", "first", time.Time{})
			for range c.tries {
				if err := b.PutOffDelivery(t.Context(), 1, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			b.ahead.Store(int64(c.later))
			now := time.Now().Add(c.later) // it stands still: there is no second try
			b.run(never, func(cfg *late.Config) { cfg.Now = func() time.Time { return now } })
			b.until("what became of it to be noted", func() bool {
				rows, err := b.Deliveries(t.Context(), late.Kind, 0, 1)
				return err == nil && len(never.heard()) == 1 && (len(rows) == 0 || rows[0].Tries == c.tries+1)
			})
			if left := b.left(); left != c.left {
				t.Errorf("%d replies wait, want %d", left, c.left)
			}
		})
	}
}

// A forgetful outbox does not take what became of a reply.
type forgetful struct {
	deliver.Outbox
	mu  sync.Mutex
	ill bool
}

func (f *forgetful) FinishDelivery(ctx context.Context, id int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ill {
		return errors.New("disk full")
	}
	return f.Outbox.FinishDelivery(ctx, id)
}

// TestFullDisk does not say again what has arrived.
func TestFullDisk(t *testing.T) {
	b, c := newBench(t), &canvas{}
	f := &forgetful{Outbox: b.Store, ill: true}
	b.owe("one", "first", time.Time{})
	d, _ := b.run(c, func(cfg *late.Config) { cfg.Outbox = f })
	b.until("it to be said", func() bool { return len(c.heard()) == 1 })
	for range 5 {
		d.Wake()
		time.Sleep(5 * time.Millisecond)
	}
	f.mu.Lock()
	f.ill = false
	f.mu.Unlock()
	d.Wake()
	b.until("it to be noted", func() bool { return b.left() == 0 })
	if n := len(c.heard()); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// A hasty outbox lists everything as due, once: what it read is out of date.
type hasty struct {
	deliver.Outbox
	mu    sync.Mutex
	lists int
}

func (h *hasty) Deliveries(ctx context.Context, kind string, after int64, limit int) ([]store.Delivery, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lists++
	rows, err := h.Outbox.Deliveries(ctx, kind, after, limit)
	for i := range rows {
		if h.lists == 1 {
			rows[i].Due = time.Time{}
		}
	}
	return rows, err
}

// TestPutOffMeanwhile: what was put off while the list of the due was made waits its time.
func TestPutOffMeanwhile(t *testing.T) {
	b, c := newBench(t), &canvas{}
	h := &hasty{Outbox: b.Store}
	b.owe("one", "first", time.Now().Add(10*time.Minute))
	b.run(c, func(cfg *late.Config) { cfg.Outbox = h })
	b.until("the list to be made again", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.lists >= 2
	})
	if said := c.heard(); len(said) != 0 {
		t.Errorf("said %v, which is due in ten minutes", said)
	}
}

// TestStopCutsOff: what was cut off is said by the next process.
func TestStopCutsOff(t *testing.T) {
	b := newBench(t)
	entered := make(chan struct{})
	b.owe("one", "first", time.Time{})
	hanging := late.New(late.Config{Outbox: b.Store, Canvas: hang(entered)})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		hanging.Run(ctx)
	}()
	<-entered
	cancel()
	<-done
	rows, err := b.Deliveries(t.Context(), late.Kind, 0, 10)
	if err != nil || len(rows) != 1 || rows[0].Tries != 0 {
		t.Fatalf("kept as %+v, %v; it was we who ended it", rows, err)
	}
	c := &canvas{}
	b.run(c)
	b.until("it to be said", func() bool { return len(c.heard()) == 1 })
}

type hang chan struct{}

func (h hang) Say(ctx context.Context, _ late.Reply) error {
	close(h)
	<-ctx.Done()
	return context.Cause(ctx)
}
