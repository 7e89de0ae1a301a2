package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A double is a machine, and codex's way to it.
type double struct {
	name string

	mu      sync.Mutex
	life    int
	exec    int
	dead    bool // it takes no connections
	cut     bool // nothing gets through
	full    bool // it refuses turns
	deaf    bool // it does not hear of ends
	others  int  // turns of other runtimes, if there are some
	odd     bool // it refuses turns for good
	drains  bool
	labels  map[string]string
	refused string
	epochs  []int64
	begun   []string
	ended   []string
	broken  chan struct{} // closed when the connection breaks
	epoch   func() int64
	host    *host
}

// A host is what several addresses of one machine share: the last epoch that it was asked in.
type host struct {
	mu   sync.Mutex
	last int64
}

// enter asks in an epoch, and returns the last.
func (h *host) enter(epoch int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = max(h.last, epoch)
	return h.last
}

// newDouble is a machine with one address.
func newDouble(name string) *double { return &double{name: name, host: &host{}} }

// alias is the same machine by another address.
func (d *double) alias() *double { return &double{name: d.name, host: d.host} }

func (d *double) status() wire.Status {
	return wire.Status{Name: d.name, Life: fmt.Sprint(d.life), Exec: d.exec, Turns: 4, Taken: d.others, Runtimes: 1 + d.others, Files: []string{wire.FilesShared}, Draining: d.drains, Labels: d.labels}
}

// Watch implements [fleet.Machine], as do the methods below.
func (d *double) Watch(ctx context.Context, silence time.Duration, tell func(wire.Status)) error {
	d.mu.Lock()
	dead, cut := d.dead, d.cut
	broken := make(chan struct{})
	d.broken = broken
	epoch := d.epoch()
	d.epochs = append(d.epochs, epoch)
	d.mu.Unlock()
	if dead {
		return fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	if known := d.host.enter(epoch); known > epoch && !cut {
		return &client.RefusedError{Status: 409, Refusal: wire.Refusal{Code: wire.CodeSuperseded, Message: "it has begun anew", Epoch: known}}
	}
	heard := time.Now()
	for beat := time.NewTicker(wire.Beat); ; {
		if !cut {
			d.mu.Lock()
			s := d.status()
			d.mu.Unlock()
			heard = time.Now()
			tell(s)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-broken:
			return io.ErrUnexpectedEOF
		case <-beat.C:
		}
		d.mu.Lock()
		cut = d.cut
		d.mu.Unlock()
		if d.host.enter(epoch) > epoch && !cut {
			return io.ErrUnexpectedEOF
		}
		if time.Since(heard) >= silence {
			return client.ErrSilent
		}
	}
}

// set changes the machine, and breaks its connection if that is to be.
func (d *double) set(breaks bool, change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	if breaks {
		close(d.broken)
	}
}

func (d *double) Begin(_ context.Context, turn string, _ wire.Turn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.odd {
		return &client.RefusedError{Status: 400, Refusal: wire.Refusal{Code: wire.CodeInvalid, Message: "it is odd"}}
	}
	if d.full {
		return &client.RefusedError{Status: 409, Refusal: wire.Refusal{Code: wire.CodeFull, Message: "it is full"}}
	}
	d.begun = append(d.begun, turn)
	return nil
}

func (d *double) End(_ context.Context, turn string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaf {
		return io.ErrUnexpectedEOF
	}
	d.ended = append(d.ended, turn)
	return nil
}

func (d *double) Place(_ context.Context, _ string, want wire.Want) (wire.Place, error) {
	return wire.Place{Dir: want.Dir}, nil
}

func (d *double) Drain(_ context.Context, drain bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drains = drain
	return nil
}

var errNotHere = errors.New("it is not used here")

func (d *double) Close()                                           {}
func (d *double) Commands(context.Context) ([]wire.Command, error) { return nil, errNotHere }
func (d *double) EndCommands(context.Context, []wire.Command) ([]wire.Command, error) {
	return nil, errNotHere
}
func (d *double) Forget(context.Context, string) error { return errNotHere }
func (d *double) Absorb(context.Context, string, string, io.Reader) (p wire.Place, err error) {
	return p, errNotHere
}
func (d *double) Read(context.Context, string, string) (io.ReadCloser, wire.File, error) {
	return nil, wire.File{}, errNotHere
}
func (d *double) Write(context.Context, string, string, io.Reader) error { return errNotHere }
func (d *double) Dial(context.Context) (net.Conn, error)                 { return nil, errNotHere }
func (d *double) Sign(*http.Request)                                     {}
func (d *double) Commit(context.Context, string, wire.Commit) (io.ReadCloser, wire.Committed, error) {
	return nil, wire.Committed{}, errNotHere
}

// codex's way.
func (d *double) URL() string   { return "ws://" + d.name }
func (d *double) Token() string { return "token" }
func (d *double) Refuse(why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = why
}
func (d *double) Allow() { d.Refuse("") }

// isRefused reports whether codex is.
func (d *double) isRefused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused != ""
}

// A journal is kept in memory.
type journal struct {
	mu    sync.Mutex
	at    map[string]string
	epoch int64
}

// Epoch implements [fleet.Journal], as do the methods below.
func (j *journal) Epoch(context.Context) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.epoch, nil
}

func (j *journal) RecordEpoch(_ context.Context, epoch int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.epoch = epoch
	return nil
}

func (j *journal) Placements(context.Context) (map[string]string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.at), nil
}

func (j *journal) RecordPlacement(_ context.Context, conversation, machine string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.at[conversation] = machine
	return nil
}

// A rig is a fleet of doubles.
type rig struct {
	*testing.T
	*fleet.Fleet
	*journal
	counts
	on     map[string]*double
	labels placement.Labels // that machines must have

	relist chan string
}

// counts are what the fleet has counted.
type counts struct {
	mu     sync.Mutex // guards the fields below
	lost   []string
	placed []time.Duration
}

// MachineLost implements [fleet.Metrics], as does Placed.
func (c *counts) MachineLost(machine string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = append(c.lost, machine)
}

func (c *counts) Placed(waited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.placed = append(c.placed, waited)
}

// list has other machines be in the list, with doubles for those that are new.
func (r *rig) list(spec string) {
	r.relist <- spec
	synctest.Wait()
}

// relisted is a list that tests change.
type relisted struct{ *rig }

func (relisted) String() string { return "a list" }

func (l relisted) Run(ctx context.Context, tell func([]roster.Entry, error)) {
	for {
		select {
		case spec := <-l.relist:
			source, err := roster.Parse(spec)
			if err != nil {
				panic(err)
			}
			once, cancel := context.WithCancel(ctx)
			source.Run(once, func(entries []roster.Entry, err error) {
				tell(entries, err)
				cancel()
			})
		case <-ctx.Done():
			return
		}
	}
}

// simulated tests a fleet in simulated time.
func simulated(t *testing.T, names []string, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, journal: &journal{at: map[string]string{}}, on: map[string]*double{}}
		r.open(names)
		defer func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(r)
	})
}

func (r *rig) open(names []string) {
	r.Helper()
	spec := ""
	for i, name := range names {
		spec += fmt.Sprintf("https://%s:%d ", name, i+1)
		if r.on[name] == nil {
			r.on[name] = newDouble(name)
		}
	}
	r.relist = make(chan string, 1)
	r.relist <- spec
	cfg := fleet.Listening(fleet.Config{
		Source: relisted{r}, Files: wire.FilesShared, Dir: "/work", Wait: time.Minute, Journal: r.journal,
		Labels: r.labels, Metrics: &r.counts,
		Logger: slog.New(slog.NewTextHandler(r.Output(), nil)),
		Connect: func(e roster.Entry, epoch func() int64) (fleet.Machine, error) {
			host, _, err := net.SplitHostPort(e.Address)
			if r.on[host] == nil {
				r.on[host] = newDouble(host)
			}
			r.on[host].epoch = epoch
			return r.on[host], err
		},
	}, func(m fleet.Machine) fleet.Way { return m.(*double) })
	var err error
	if r.Fleet, err = fleet.New(r.Context(), cfg); err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
}

// take takes a place that there must be.
func (r *rig) take(conversation string) place.Place {
	r.Helper()
	p, err := r.Take(r.Context(), conversation, "")
	if err != nil {
		r.Fatalf("%s has no place: %v", conversation, err)
	}
	return p
}

// none wants that there is no place, and returns why.
func (r *rig) none(conversation string) *place.NoneError {
	r.Helper()
	p, err := r.Take(r.Context(), conversation, "")
	none, is := errors.AsType[*place.NoneError](err)
	if !is {
		r.Fatalf("%s has the place %v, %v", conversation, p, err)
	}
	return none
}

// lost waits for the loss of a place, and returns after how long it came.
func (r *rig) lost(p place.Place) (after time.Duration, why string) {
	r.Helper()
	began := time.Now()
	select {
	case <-p.Lost().Done():
		return time.Since(began), context.Cause(p.Lost()).Error()
	case <-time.After(time.Hour):
		r.Fatal("the place is not lost")
		return 0, ""
	}
}

func (d *double) has(got *[]string, n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(slices.Compact(slices.Clone(*got))) == n
}
