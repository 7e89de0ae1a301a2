package presence_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A double is the platform, as far as presence knows it.
type double struct {
	start time.Time

	mu            sync.Mutex // guards the fields below
	registrations []time.Duration
	registered    []platform.Registration
	beats         []beat
	looks         int

	register  func(n int) error // n counts from 1
	heartbeat func(n int) error
	state     func(n int) (platform.State, error)
	url       string // that it has of us
	stall     time.Duration
	mute      bool // it never says how the workspace stands
}

type beat struct {
	platform.Beat
	at time.Duration
}

func (d *double) wait(ctx context.Context) error {
	d.mu.Lock()
	stall := d.stall
	d.mu.Unlock()
	if stall == 0 {
		return nil
	}
	select {
	case <-time.After(stall):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *double) Register(ctx context.Context, r platform.Registration) (platform.Registered, error) {
	d.mu.Lock()
	d.registrations = append(d.registrations, time.Since(d.start))
	d.registered = append(d.registered, r)
	n, f := len(d.registrations), d.register
	d.mu.Unlock()
	if err := d.wait(ctx); err != nil {
		return platform.Registered{}, err
	}
	if f != nil {
		return platform.Registered{}, f(n)
	}
	return platform.Registered{DeliveryMode: r.DeliveryMode}, nil
}

func (d *double) Heartbeat(ctx context.Context, b platform.Beat) error {
	d.mu.Lock()
	d.beats = append(d.beats, beat{b, time.Since(d.start)})
	n, f := len(d.beats), d.heartbeat
	d.mu.Unlock()
	if err := d.wait(ctx); err != nil {
		return err
	}
	if f != nil {
		return f(n)
	}
	return nil
}

func (d *double) State(ctx context.Context) (platform.State, error) {
	d.mu.Lock()
	d.looks++
	n, f, mute := d.looks, d.state, d.mute
	d.mu.Unlock()
	if mute {
		<-ctx.Done()
		return platform.State{}, context.Cause(ctx)
	}
	if f != nil {
		return f(n)
	}
	return platform.State{Status: "online"}, nil
}

func (d *double) Workspace(context.Context) (platform.Info, error) {
	return platform.Info{URL: d.url}, nil
}

func (d *double) rounds() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]time.Duration(nil), d.registrations...)
}

func (d *double) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *double) all() []beat {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]beat(nil), d.beats...)
}

func (d *double) last(t *testing.T) beat {
	t.Helper()
	beats := d.all()
	if len(beats) == 0 {
		t.Fatal("no heartbeat has come")
	}
	return beats[len(beats)-1]
}

func refuse(status int) error { return &platform.Error{Op: "test", Status: status} }

// A bench is a presence that runs in a bubble.
type bench struct {
	*presence.Presence
	*double
	end chan error
}

// within runs f in a bubble with a presence that runs.
func within(t *testing.T, d *double, change func(*presence.Config), f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.start = time.Now()
		cfg := presence.Config{
			Platform: d, URL: "http://ws:8000", Card: func() any { return map[string]any{"name": "w"} },
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}
		if change != nil {
			change(&cfg)
		}
		b := &bench{Presence: presence.New(cfg), double: d, end: make(chan error, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.end <- b.Run(ctx)
		}()
		synctest.Wait()
		f(t, b)
		cancel()
		<-done
	})
}

// after lets time pass.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func seconds(all []time.Duration) string {
	var out []int
	for _, d := range all {
		out = append(out, int(d/time.Second))
	}
	return fmt.Sprint(out)
}

var errUnreachable = errors.New("connection refused")
