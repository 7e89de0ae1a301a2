package presence_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestRegistersAtOnceAndEachHour(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		if got := seconds(d.rounds()); got != "[0]" {
			t.Fatalf("registered at %s", got)
		}
		r := d.registered[0]
		if r.DeliveryMode != "push" || r.URL != "http://ws:8000" || r.Card == nil {
			t.Errorf("registered with %+v; without a delivery_mode a stale one makes the workspace deaf", r)
		}
		if ok, words := b.Ready(); !ok {
			t.Errorf("not ready: %s", words)
		}
		after(2*time.Hour + time.Minute)
		if got := seconds(d.rounds()); got != "[0 3600 7200]" {
			t.Errorf("registered at %s", got)
		}
	})
}

// TestSchedule has the platform refuse in the ways that may end: eight attempts, and
// the next round after five minutes.
func TestSchedule(t *testing.T) {
	for name, status := range map[string]int{"500": 500, "503": 503, "cloudflare": 522, "429": 429} {
		t.Run(name, func(t *testing.T) {
			d := &double{register: func(int) error { return refuse(status) }}
			within(t, d, nil, func(t *testing.T, b *bench) {
				after(6 * time.Minute)
				if got := seconds(d.rounds()); got != "[0 1 3 7 15 31 61 91]" {
					t.Errorf("registered at %s", got)
				}
				if ok, _ := b.Ready(); ok {
					t.Error("ready, though the platform has no address")
				}
				if len(d.all()) < 12 {
					t.Errorf("%d heartbeats in six minutes", len(d.all()))
				}
				after(time.Minute)
				if got := seconds(d.rounds())[:28]; got != "[0 1 3 7 15 31 61 91 391 392" {
					t.Errorf("registered at %s", got)
				}
			})
		})
	}
}

// TestRefusedForGood: on some platforms a container's own name is refused, for it
// leads to a private address. The heartbeat goes on, and the workspace is online.
func TestRefusedForGood(t *testing.T) {
	for name, c := range map[string]struct {
		url  string
		want bool
	}{"known": {"http://127.0.0.1:32768", true}, "unknown": {"", false}} {
		t.Run(name, func(t *testing.T) {
			d := &double{register: func(int) error { return refuse(400) }, url: c.url}
			within(t, d, nil, func(t *testing.T, b *bench) {
				after(11 * time.Minute)
				if got := seconds(d.rounds()); got != "[0 300 600]" {
					t.Errorf("registered at %s", got)
				}
				if n := len(d.all()); n < 22 || d.last(t).Card == nil {
					t.Errorf("%d heartbeats, want 22, with the card that the platform lacks", n)
				}
				if ok, words := b.Ready(); ok != c.want {
					t.Errorf("ready %t (%s), want %t", ok, words, c.want)
				}
			})
		})
	}
}

// TestRegistersAfterAGap: the platform forgets the address of a workspace that it has
// not heard for a minute, and a heartbeat does not bring it back.
func TestRegistersAfterAGap(t *testing.T) {
	down := func(n int) error {
		if n > 2 && n < 20 {
			return errUnreachable
		}
		return nil
	}
	d := &double{heartbeat: down}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(10 * time.Minute)
		if got := d.rounds(); len(got) != 2 {
			t.Errorf("registered at %s, want it once more after the gap", seconds(got))
		}
	})
}

// TestRegistersWhenThePlatformIsThereAtLast: it was away for longer than a round takes,
// and takes the workspace for reachable from the first heartbeat on.
func TestRegistersWhenThePlatformIsThereAtLast(t *testing.T) {
	d := &double{}
	away := func(int) error {
		if time.Since(d.start) < 3*time.Minute {
			return errUnreachable
		}
		return nil
	}
	d.heartbeat, d.register = away, away
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(3*time.Minute + 31*time.Second)
		if ok, words := b.Ready(); !ok {
			t.Errorf("not ready: %s; tried at %s", words, seconds(d.rounds()))
		}
	})
}

func TestShortGapIsNone(t *testing.T) {
	d := &double{heartbeat: func(n int) error {
		if n == 3 {
			return refuse(502)
		}
		return nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(10 * time.Minute)
		if got := d.rounds(); len(got) != 1 {
			t.Errorf("registered at %s", seconds(got))
		}
	})
}

// TestTokenRefused: a heartbeat that is refused with 401 is no success, and has the
// workspace registered anew.
func TestTokenRefused(t *testing.T) {
	d := &double{heartbeat: func(n int) error {
		if n == 3 {
			return refuse(401)
		}
		return nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(61 * time.Second)
		if got := seconds(d.rounds()); got != "[0 60]" {
			t.Errorf("registered at %s", got)
		}
		after(time.Minute)
		if s := b.Status(); s.BeatError != "" || !s.Registered {
			t.Errorf("status = %+v", s)
		}
	})
}

// TestRefusedTokenIsNotHammered: everything is refused, for hours.
func TestRefusedTokenIsNotHammered(t *testing.T) {
	d := &double{heartbeat: func(int) error { return refuse(401) }, register: func(int) error { return refuse(401) }}
	within(t, d, nil, func(t *testing.T, b *bench) {
		b.Began("j", "x")
		after(time.Hour)
		if n := len(d.rounds()); n > 25 {
			t.Errorf("registered %d times in an hour", n)
		}
		if n := len(d.all()); n > 1000 {
			t.Errorf("%d heartbeats in an hour", n)
		}
		if s := b.Status(); s.Registered || s.BeatError == "" {
			t.Errorf("status = %+v", s)
		}
	})
}

func TestDeleted(t *testing.T) {
	d := &double{state: func(n int) (platform.State, error) {
		if n == 1 {
			return platform.State{}, refuse(404) // of a proxy, or of nobody
		}
		return platform.State{Deleted: n > 3}, nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(3*time.Minute + 50*time.Second)
		if err := <-b.end; !errors.Is(err, presence.ErrDeleted) {
			t.Errorf("Run = %v", err)
		}
		b.end <- nil
	})
}

// TestDeletedAfter401 is deleted while its token is refused: it must not register
// itself anew.
func TestDeletedAfter401(t *testing.T) {
	d := &double{
		heartbeat: func(n int) error {
			if n > 1 {
				return refuse(401)
			}
			return nil
		},
		register: func(n int) error {
			if n > 1 {
				return refuse(401)
			}
			return nil
		},
		state: func(int) (platform.State, error) { return platform.State{Deleted: true}, nil },
	}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(31 * time.Second)
		select {
		case err := <-b.end:
			if !errors.Is(err, presence.ErrDeleted) {
				t.Errorf("Run = %v", err)
			}
		default:
			t.Error("the runtime goes on, half a minute after the deletion")
		}
		if err := b.Presence.Register(t.Context()); !errors.Is(err, presence.ErrDeleted) {
			t.Errorf("Register = %v", err)
		}
		if n := len(d.rounds()); n != 1 {
			t.Errorf("registered %d times: there are platforms that bring it back at that", n)
		}
	})
}

// TestDeletedUnnoticed: nothing is refused that presence asks for, and one look in
// between is not answered.
func TestDeletedUnnoticed(t *testing.T) {
	var deleted atomic.Bool
	looked := 0
	d := &double{state: func(int) (platform.State, error) {
		if !deleted.Load() {
			return platform.State{Status: "online"}, nil
		}
		if looked++; looked == 1 {
			return platform.State{}, errUnreachable
		}
		return platform.State{Status: "removed", Deleted: true}, nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(10*time.Minute + 26*time.Second) // just after a look
		deleted.Store(true)
		after(time.Minute)
		select {
		case err := <-b.end:
			if !errors.Is(err, presence.ErrDeleted) {
				t.Errorf("Run = %v", err)
			}
		default:
			t.Error("the runtime goes on, a minute after the deletion")
		}
	})
}

// TestNoWordIsNoDeletion: the platform never says how the workspace stands, or says what
// is no deletion. Presence goes on as before, and asks on.
func TestNoWordIsNoDeletion(t *testing.T) {
	says := func(err error) *double {
		return &double{state: func(int) (platform.State, error) { return platform.State{}, err }}
	}
	for name, d := range map[string]*double{
		"never": {mute: true}, "401": says(refuse(401)), "404": says(refuse(404)), "500": says(refuse(500)), "broken": says(errUnreachable),
	} {
		t.Run(name, func(t *testing.T) {
			within(t, d, nil, func(t *testing.T, b *bench) {
				after(10*time.Minute + time.Second)
				if n := len(d.all()); n != 21 || len(d.rounds()) != 1 {
					t.Errorf("%d heartbeats, registered at %s", n, seconds(d.rounds()))
				}
				if ok, words := b.Ready(); !ok {
					t.Errorf("not ready: %s", words)
				}
				if n := d.looked(); n < 10 || n > 25 {
					t.Errorf("asked %d times in ten minutes", n)
				}
			})
		})
	}
}

// TestUselessToken is what the registration of a deleted workspace brings: it has the
// platform asked at once, and is no registration.
func TestUselessToken(t *testing.T) {
	d := &double{
		register: func(int) error { return fmt.Errorf("register: %w", platform.ErrUselessToken) },
		state:    func(int) (platform.State, error) { return platform.State{Deleted: true}, nil },
	}
	within(t, d, nil, func(t *testing.T, b *bench) {
		if err := <-b.end; !errors.Is(err, presence.ErrDeleted) || time.Since(d.start) > time.Second || b.Status().Registered {
			t.Errorf("Run = %v after %s, %+v", err, time.Since(d.start), b.Status())
		}
	})
	// Where the platform does not tell, it is tried again, rarely.
	d = &double{register: d.register}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(time.Hour)
		if n := len(d.rounds()); n > 15 {
			t.Errorf("registered %d times in an hour", n)
		}
	})
}

// TestNoPolling is said once, is on no schedule of attempts, and is shown.
func TestNoPolling(t *testing.T) {
	var newer atomic.Bool
	d := &double{register: func(int) error {
		if newer.Load() {
			return nil
		}
		return platform.ErrNoPolling
	}}
	var log strings.Builder
	within(t, d, func(c *presence.Config) {
		c.URL, c.DeliveryMode = "", "poll"
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	}, func(t *testing.T, b *bench) {
		after(3*time.Hour + time.Minute)
		if n := len(d.rounds()); n != 4 {
			t.Errorf("registered %d times in three hours", n)
		}
		if ok, words := b.Ready(); ok || words != platform.ErrNoPolling.Error() {
			t.Errorf("ready: %t, %s", ok, words)
		}
		if last := d.last(t); last.RuntimeState != platform.Wedged || !strings.Contains(last.SampleError, "no poll mode") {
			t.Errorf("the platform is told %+v", last)
		}
		newer.Store(true)
		after(time.Hour)
		if ok, words := b.Ready(); !ok || d.last(t).RuntimeState != "" {
			t.Errorf("ready: %t, %s, of a platform that is newer now", ok, words)
		}
	})
	if said := strings.Count(log.String(), "no poll mode"); said != 1 || strings.Contains(log.String(), "tried again") {
		t.Errorf("the log says it %d times:\n%s", said, &log)
	}
}

func TestPaused(t *testing.T) {
	d := &double{state: func(n int) (platform.State, error) { return platform.State{Paused: n == 1}, nil }}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(30 * time.Second)
		if !b.Status().Paused {
			t.Error("not paused")
		}
		after(30 * time.Second)
		if b.Status().Paused {
			t.Error("paused for ever")
		}
	})
}
