package push

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// page is how many deliveries are read at a time.
const page = 256

// posts are the push notifications of an outbox: which are to be posted next, and beside
// which. They are a [deliver.Journal], its [deliver.Sender] and its [deliver.Room].
type posts struct {
	cfg     Config
	poster  *Poster
	waiting *backlog

	mu       sync.Mutex // guards the fields below
	schedule *schedule
	last     int64 // the newest delivery that is in the schedule, or was
}

func newPosts(cfg Config) *posts {
	return &posts{cfg: cfg, poster: NewPoster(cfg.Guard, cfg.Timeout, cfg.Now), waiting: newBacklog(), schedule: newSchedule()}
}

// Due implements [deliver.Journal]. What is in the schedule is posted also while the outbox
// cannot be listed.
func (p *posts) Due(ctx context.Context, offer func(*lane, *lane) bool) (time.Duration, error) {
	err := p.load(ctx)
	for {
		now := p.cfg.Now()
		p.mu.Lock()
		l, later := p.schedule.next(now)
		p.mu.Unlock()
		switch {
		case l != nil && offer(l, l):
		case later.IsZero():
			return deliver.Idle, err
		default:
			return later.Sub(now), err
		}
	}
}

// load takes what is new into the schedule.
func (p *posts) load(ctx context.Context) error {
	for {
		rows, err := p.cfg.Outbox.Deliveries(ctx, Kind, p.last, page)
		if err != nil {
			return err
		}
		now := p.cfg.Now()
		for _, r := range rows {
			r.Due = now.Add(r.Due.Sub(now)) // by a clock that nobody puts back
			p.add(ctx, r)
		}
		if len(rows) < page {
			p.waiting.lapse(p.cfg.Now())
			return nil
		}
	}
}

func (p *posts) add(ctx context.Context, r store.Delivery) {
	from, host := p.cfg.Sender(r.Conversation), ""
	key := laneKey{r.Task, r.Target}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.schedule.lanes[key] == nil { // nothing but this makes lanes
		p.mu.Unlock()
		s, _ := p.setting(ctx, key)
		p.mu.Lock()
		host = s.canonicalHost()
	}
	p.last = r.ID
	p.schedule.add(r, from, host)
	p.waiting.add(from, r.Size)
}

// Begin implements [deliver.Room]: the schedule offers only what there is room for.
func (p *posts) Begin(l *lane) (end func(deliver.Settlement), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.schedule.launch(l, p.cfg.Now())
	return func(s deliver.Settlement) { p.land(l, s) }, true
}

func (p *posts) land(l *lane, s deliver.Settlement) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.schedule.land(l, s, p.cfg.Now()) {
		p.waiting.remove(l.queue.sender, l.flight.size)
	}
}

// Settle implements [deliver.Journal].
func (p *posts) Settle(ctx context.Context, l *lane, s deliver.Settlement) error {
	return deliver.SettleIn(ctx, p.cfg.Outbox, l.flight.id, s)
}
