// Package refusals makes guessing a credential slow, and seen. All doors that ask for one
// share a [Refusals].
//
// A credential is always compared, and a right one is never kept waiting, whatever else
// comes from its network: behind a proxy or a NAT the operator has the address of an
// attacker, and nothing but the credential tells them apart. So only refusals wait, one
// behind the other for each network, and beyond a few of them the answer is that there are
// too many. A guesser who does not wait for answers learns at the rate of the machine that
// a guess was wrong; what is long enough is not found so. For what is not, see
// [Config.Weak].
package refusals

import (
	"container/list"
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
)

const (
	pause     = 300 * time.Millisecond // between two refusals of a network
	mostAhead = 8                      // that wait for each network
	mostHeld  = 128                    // that wait in all
	mostKnown = 1024                   // networks that are remembered; then those heard of least recently are not
	saidEvery = time.Minute            // between two lines of the log on a network
	mostSaid  = 10                     // lines in that time on all of them
)

// RetryAfter is how many seconds there is no room for, once there is none.
const RetryAfter = int(mostAhead*pause/time.Second) + 1

// A Reason is why a request is refused, as it is counted.
type Reason string

// Reasons that this package gives.
const (
	Missing Reason = "no_credential"
	Wrong   Reason = "wrong_credential"
	TooMany Reason = "too_many"
)

// Config describes a [Refusals]. Its zero value works.
type Config struct {
	// Weak says that a credential is short enough to be found by trying. Then it is not
	// compared while there is no room for another refusal to wait, of its network or of all
	// together, and a right one has to come again.
	Weak    bool
	Pause   time.Duration // between two refusals of a network; 0 means 0.3 s
	Counted func(Reason)  // hears of each refusal; nil if nothing does
	Logger  *slog.Logger  // nil discards
}

// A Refusals remembers who has shown wrong credentials lately. It may be used
// concurrently. Create it with [New].
type Refusals struct {
	cfg Config

	mu       sync.Mutex // guards the fields below
	networks map[netip.Prefix]*list.Element
	recent   list.List // of *network, the one heard of last in front
	held     int
	lines    int       // said since
	since    time.Time // this
	unnamed  int       // refusals of networks that no line has named
}

// A network is what is known of one.
type network struct {
	prefix netip.Prefix
	next   time.Time // when the refusals that wait are through
	said   time.Time
	count  int // since the log spoke of them
}

// New returns a Refusals.
func New(cfg Config) *Refusals {
	if cfg.Pause <= 0 {
		cfg.Pause = pause
	}
	if cfg.Counted == nil {
		cfg.Counted = func(Reason) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Refusals{cfg: cfg, networks: map[netip.Prefix]*list.Element{}}
}

// Closed reports whether a credential from remote must not be looked at now. It is then to
// be answered as one too many.
func (r *Refusals) Closed(remote string) bool {
	if !r.cfg.Weak {
		return false
	}
	r.mu.Lock()
	known, ok := r.networks[caller.Network(remote)]
	closed := r.held >= mostHeld || ok && r.fullLocked(known.Value.(*network), time.Now())
	r.mu.Unlock()
	if closed {
		r.cfg.Counted(TooMany)
	}
	return closed
}

// Missing counts a request that shows no credential where one is asked for. It is no guess.
func (r *Refusals) Missing() { r.cfg.Counted(Missing) }

// Wrong counts a wrong credential, and returns when it may be refused: at the end of its
// wait, or of ctx. It returns false if there is no room to wait in, which is then to be the
// answer.
func (r *Refusals) Wrong(ctx context.Context, remote, door string) bool {
	until, ok := r.enter(ctx, remote, door)
	if !ok {
		r.cfg.Counted(TooMany)
		return false
	}
	r.cfg.Counted(Wrong)
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done(): // its place stays taken: leaving is no way to guess faster
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held--
	return true
}

// enter takes a place for a refusal; false if there is none.
func (r *Refusals) enter(ctx context.Context, remote, door string) (until time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, n := time.Now(), r.networkLocked(caller.Network(remote))
	n.count++
	r.sayLocked(ctx, n, door, now)
	if r.held >= mostHeld || r.fullLocked(n, now) {
		return time.Time{}, false
	}
	if n.next.Before(now) {
		n.next = now
	}
	n.next = n.next.Add(r.cfg.Pause)
	r.held++
	return n.next, true
}

// fullLocked reports whether as many refusals of a network wait as may.
func (r *Refusals) fullLocked(n *network, now time.Time) bool {
	return n.next.Sub(now) > (mostAhead-1)*r.cfg.Pause
}

// networkLocked returns what is known of one, and forgets another for it if need be.
func (r *Refusals) networkLocked(prefix netip.Prefix) *network {
	if known, ok := r.networks[prefix]; ok {
		r.recent.MoveToFront(known)
		return known.Value.(*network)
	}
	if r.recent.Len() >= mostKnown {
		oldest := r.recent.Remove(r.recent.Back()).(*network)
		delete(r.networks, oldest.prefix)
		r.unnamed += oldest.count
	}
	n := &network{prefix: prefix}
	r.networks[prefix] = r.recent.PushFront(n)
	return n
}

// sayLocked writes of a network's refusals if it is time to.
func (r *Refusals) sayLocked(ctx context.Context, n *network, door string, now time.Time) {
	if now.Sub(r.since) >= saidEvery {
		r.lines, r.since = 0, now
	}
	if r.lines >= mostSaid || !n.said.IsZero() && now.Sub(n.said) < saidEvery {
		return
	}
	r.cfg.Logger.WarnContext(ctx, "a wrong token or secret was shown", slog.String("network", n.prefix.String()),
		slog.String("door", door), slog.Int("times", n.count), slog.Int("times_elsewhere", r.unnamed))
	r.lines++
	n.said, n.count, r.unnamed = now, 0, 0
}
