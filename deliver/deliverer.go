package deliver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	// Idle is when to look again where nothing is known to become due: what is new wakes
	// the loop.
	Idle = time.Hour
	// retry is when the journal is asked again that could not be read or written.
	retry = time.Second
	// grace is what deliveries under way get when Run is stopped.
	grace = 2 * time.Second
	// noteLimit is what a note may take, also beyond the end of all else.
	noteLimit = 5 * time.Second
)

// A Journal keeps deliveries until they are done. K tells those apart that may be made at
// the same time, D is a delivery.
type Journal[K comparable, D any] interface {
	// Due calls offer with what is due, the most urgent first, and says when to look again.
	// Offer begins it, or returns false: it is under way, or there is no room.
	Due(ctx context.Context, offer func(K, D) bool) (next time.Duration, err error)
	// Settle notes what became of one. After an error it is called again;
	// [store.ErrUnknown] says that there is nothing to note it of.
	Settle(ctx context.Context, d D, s Settlement) error
}

// A Sender makes deliveries.
type Sender[D any] interface {
	// Send tries one once, if it still is to be: it may have changed since it was listed.
	Send(ctx context.Context, d D) Outcome
}

// A Room bounds what is under way beyond its number.
type Room[D any] interface {
	// Begin takes what a delivery needs until end is called, which is told what became of
	// it; or it reports that there is no room.
	Begin(d D) (end func(Settlement), ok bool)
}

// Words are what the log says of deliveries; it says nothing of what has none.
type Words struct {
	Kind    string // of a delivery, where the journal does not work
	Arrived string
	Failed  string // and is tried again
	Dead    string
}

// Config describes a deliverer. Journal and Sender must be set.
type Config[K comparable, D any] struct {
	Words   Words
	Journal Journal[K, D]
	Sender  Sender[D]
	Most    int     // deliveries at the same time; 0 means that Room alone bounds them
	Room    Room[D] // nil bounds nothing
	Curve   Curve   // zero means [Usual]
	Now     func() time.Time
	Logger  *slog.Logger // nil discards
}

// A Deliverer makes the deliveries of a journal. Create it with [New].
type Deliverer[K comparable, D any] struct {
	cfg   Config[K, D]
	log   *slog.Logger
	wake  chan struct{} // has room for one
	blind bool          // the journal could not be listed, and that was said; Run owns it

	mu      sync.Mutex // guards the fields below
	busy    map[K]bool // begun by Run
	held    map[K]chan struct{}
	unnoted map[K]note[D]
}

// A note is what became of a delivery and is not in the journal yet.
type note[D any] struct {
	delivery D
	s        Settlement
}

// New returns a deliverer. It starts nothing.
func New[K comparable, D any](cfg Config[K, D]) *Deliverer[K, D] {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Curve = cmp.Or(cfg.Curve, Usual())
	return &Deliverer[K, D]{
		cfg: cfg, log: cfg.Logger, wake: make(chan struct{}, 1),
		busy: map[K]bool{}, held: map[K]chan struct{}{}, unnoted: map[K]note[D]{},
	}
}

// Wake says that there is something new, or that it is due sooner. It never blocks.
func (d *Deliverer[K, D]) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run makes deliveries until ctx ends, beginning with what an earlier process has left.
// Those under way go on for a moment behind ctx. It may be called once.
func (d *Deliverer[K, D]) Run(ctx context.Context) {
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cut) })
	defer stop()
	var group sync.WaitGroup
	defer group.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return
		}
		timer.Reset(d.round(ctx, func(key K, one D) bool {
			end, ok := d.begin(key, one)
			if ok {
				group.Go(func() { d.deliver(work, key, one, end) })
			}
			return ok
		}))
	}
}

// round offers what is due, and says when to look again.
func (d *Deliverer[K, D]) round(ctx context.Context, offer func(K, D) bool) time.Duration {
	next, err := d.cfg.Journal.Due(ctx, offer)
	if err == nil {
		d.blind = false
		return next
	}
	if !d.blind && ctx.Err() == nil {
		d.log.Error("what is to be delivered cannot be read; this is tried again each second", "kind", d.cfg.Words.Kind, "err", err)
	}
	d.blind = true
	return retry
}

// begin takes the room for a delivery that is not under way already.
func (d *Deliverer[K, D]) begin(key K, one D) (end func(Settlement), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[key] || d.cfg.Most > 0 && len(d.busy) >= d.cfg.Most {
		return nil, false
	}
	end = func(Settlement) {}
	if d.cfg.Room != nil {
		if end, ok = d.cfg.Room.Begin(one); !ok {
			return nil, false
		}
	}
	d.busy[key] = true
	return end, true
}

// deliver makes a delivery that was begun. Its end makes room, and wakes the next round.
func (d *Deliverer[K, D]) deliver(ctx context.Context, key K, one D, end func(Settlement)) {
	s, err := d.try(ctx, key, one)
	for err != nil && sleep.For(ctx, retry) {
		s, err = d.try(ctx, key, one)
	}
	d.mu.Lock()
	delete(d.busy, key) // before it can be offered again
	d.mu.Unlock()
	end(s)
	d.Wake()
}

// Now tries a delivery at once, whatever it waits for, as soon as no other try of it is
// under way. After an error nothing of it could be noted.
func (d *Deliverer[K, D]) Now(ctx context.Context, key K, one D) error {
	_, err := d.try(ctx, key, one)
	return err
}

// try tries a delivery once and notes what came of it. What is not noted of an earlier try
// is noted first, and then there is none.
func (d *Deliverer[K, D]) try(ctx context.Context, key K, one D) (Settlement, error) {
	release, err := d.take(ctx, key)
	if err != nil {
		return Settlement{}, err
	}
	defer release()
	d.mu.Lock()
	n, ok := d.unnoted[key]
	d.mu.Unlock()
	if ok {
		return n.s, d.settle(ctx, key, n)
	}
	o := d.cfg.Sender.Send(ctx, one)
	switch {
	case o.Verdict == Arrived, o.Verdict == Dropped:
	case ctx.Err() != nil: // we were cut off, not the receiver
		return Settlement{}, context.Cause(ctx)
	case o.Verdict == Later && o.Err != nil:
		d.log.Error("a delivery cannot be read; this is tried again", append(o.Log, "kind", d.cfg.Words.Kind, "err", o.Err)...)
		return Settlement{}, o.Err
	case o.Verdict == Later:
		return Settlement{}, nil
	}
	n = note[D]{one, d.cfg.Curve.settlement(o, d.cfg.Now())}
	d.say(o, n.s)
	return n.s, d.settle(ctx, key, n)
}

// settle notes what became of a delivery, also when we are told to stop meanwhile.
func (d *Deliverer[K, D]) settle(ctx context.Context, key K, n note[D]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	err := d.cfg.Journal.Settle(ctx, n.delivery, n.s)
	if errors.Is(err, store.ErrUnknown) {
		err = nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.unnoted, key)
		return nil
	}
	d.unnoted[key] = n
	d.log.Error("what became of a delivery could not be noted; this is tried again, and if it is never done the next process sends it again",
		"kind", d.cfg.Words.Kind, "err", err)
	return err
}

// say logs what became of a try. That one fails again is for debugging.
func (d *Deliverer[K, D]) say(o Outcome, s Settlement) {
	level, words, about := slog.LevelWarn, "", o.Log
	switch s.State {
	case Sent:
		level, words = slog.LevelInfo, d.cfg.Words.Arrived
	case PutOff:
		words, about = d.cfg.Words.Failed, append(about, "err", s.Err, "tries", s.Tries, "again", true)
		if s.Tries > 1 {
			level = slog.LevelDebug
		}
	case Dead:
		words, about = d.cfg.Words.Dead, append(about, "err", s.Err, "tries", s.Tries, "again", false)
	}
	if words != "" {
		d.log.Log(context.Background(), level, words, about...) //nolint:sloglint // constants of those who use the package
	}
}

// take waits until no try of a key is under way, and takes it.
func (d *Deliverer[K, D]) take(ctx context.Context, key K) (release func(), err error) {
	for {
		d.mu.Lock()
		held := d.held[key]
		if held == nil {
			mine := make(chan struct{})
			d.held[key] = mine
			d.mu.Unlock()
			return func() {
				d.mu.Lock()
				delete(d.held, key)
				d.mu.Unlock()
				close(mine)
			}, nil
		}
		d.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
