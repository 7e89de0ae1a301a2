package presence_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestBeatsAtOnceAndEvery30Seconds(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(2*time.Minute + time.Second)
		var at []time.Duration
		for _, beat := range d.all() {
			at = append(at, beat.at)
			if beat.Metadata == nil {
				t.Error("a beat without runtime_metadata: the platform drops what it had")
			}
			if beat.UptimeSeconds != int64(beat.at/time.Second) || beat.RuntimeState != "" || beat.ErrorRate != 0 {
				t.Errorf("beat = %+v", beat.Beat)
			}
		}
		if got := seconds(at); got != "[0 30 60 90 120]" {
			t.Errorf("beats at %s", got)
		}
	})
}

// TestBeatsWhileRegisteringHangs: the first beat does not wait for a platform that
// does not answer.
func TestBeatsWhileRegisteringHangs(t *testing.T) {
	d := &double{stall: time.Hour}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(6 * time.Second)
		if n := len(d.all()); n != 1 {
			t.Errorf("%d beats in 6 s", n)
		}
		if s := b.Status(); s.Registered {
			t.Errorf("status = %+v", s)
		}
	})
}

func TestBothEdges(t *testing.T) {
	d := &double{}
	within(t, d, func(c *presence.Config) {
		c.Metadata = platform.RuntimeMetadata{IdleTimeoutSeconds: 1800}
	}, func(t *testing.T, b *bench) {
		after(10 * time.Second)
		b.Turn("the model broke off")
		b.Began("a", "look at\nthe  logs")
		after(0)
		got := d.last(t)
		if got.at != 10*time.Second || got.ActiveTasks != 1 || got.CurrentTask != "look at the logs" {
			t.Errorf("at the start: %+v", got)
		}
		if got.ErrorRate != 1 || got.SampleError != "the model broke off" || got.UptimeSeconds != 10 ||
			got.Metadata.IdleTimeoutSeconds != 1800 {
			t.Errorf("the beat at an edge zeroes what the platform has: %+v", got)
		}
		after(5 * time.Second)
		b.Ended("a")
		after(0)
		if got := d.last(t); got.at != 15*time.Second || got.ActiveTasks != 0 || got.CurrentTask != "" {
			t.Errorf("at the end: %+v", got)
		}
		b.Ended("a")
		after(10 * time.Second)
		if got := d.last(t); got.ActiveTasks != 0 || got.at != 15*time.Second {
			t.Errorf("ended twice: %+v", got)
		}
	})
}

// TestManyEdgesAreOneBeat: the platform counts requests, and nobody waits for it.
func TestManyEdgesAreOneBeat(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(10 * time.Second)
		for i := range 1000 {
			id := fmt.Sprint(i)
			b.Began(id, id)
			time.Sleep(5 * time.Millisecond)
			b.Ended(id)
		}
		after(time.Second)
		if n := len(d.all()); n > 25 {
			t.Errorf("%d beats for 5 s of short turns", n)
		}
		if got := d.last(t).ActiveTasks; got != 0 {
			t.Errorf("%d tasks stay active", got)
		}
	})
}

// TestNobodyWaitsForThePlatform: what is told of the work takes no time, however slow
// the platform is, and the truth arrives in the end.
func TestNobodyWaitsForThePlatform(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		d.mu.Lock()
		d.stall = time.Hour
		d.mu.Unlock()
		began := time.Now()
		for i := range 100 {
			b.Began(fmt.Sprint(i), "x")
			b.Rests(fmt.Sprint(i))
			b.Resumes(fmt.Sprint(i))
			b.Turn("")
			_, _ = b.Ready()
		}
		for i := range 99 {
			b.Ended(fmt.Sprint(i))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
		after(time.Minute)
		d.mu.Lock()
		d.stall = 0
		d.mu.Unlock()
		after(11 * time.Second)
		if got := d.last(t); got.ActiveTasks != 1 {
			t.Errorf("told %d", got.ActiveTasks)
		}
		if s := b.Status(); s.BeatError != "" {
			t.Errorf("status = %+v", s)
		}
	})
}

// TestFailedEdgeIsToldSoon: the end of the work is told again before the next beat is due.
func TestFailedEdgeIsToldSoon(t *testing.T) {
	d := &double{heartbeat: func(n int) error {
		if n == 3 {
			return refuse(503)
		}
		return nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(time.Second)
		b.Began("a", "x")
		after(time.Second)
		b.Ended("a")
		after(6 * time.Second)
		if got := d.last(t); got.ActiveTasks != 0 || got.at != 7*time.Second {
			t.Errorf("last beat %+v", got)
		}
	})
}

// TestBeatAmongTooManyRequests: one that the platform had no room for is sent again soon, for
// it takes a workspace for gone that it has not heard for a minute.
func TestBeatAmongTooManyRequests(t *testing.T) {
	d := &double{heartbeat: func(n int) error {
		if n == 2 || n == 3 {
			return refuse(429)
		}
		return nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(45 * time.Second)
		if got := d.last(t); got.at != 40*time.Second {
			t.Errorf("last beat %+v", got)
		}
	})
}

// TestEdgeWithoutAnAnswer: the platform has taken what it did not answer for, and work
// that ends meanwhile must not stay active there.
func TestEdgeWithoutAnAnswer(t *testing.T) {
	d := &double{heartbeat: func(n int) error {
		if n == 2 {
			return errUnreachable
		}
		return nil
	}}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(time.Second)
		b.Began("a", "x")
		after(time.Second)
		b.Ended("a")
		after(time.Second)
		if got := d.last(t); got.ActiveTasks != 0 || got.at != 2*time.Second {
			t.Errorf("last beat %+v", got)
		}
	})
}

func TestWhatRestsIsNotActive(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(time.Second)
		b.Began("a", "first")
		b.Began("b", "second")
		b.Rests("a")
		after(time.Second)
		if got := d.last(t); got.ActiveTasks != 1 || got.CurrentTask != "second" || b.Active() != 1 {
			t.Errorf("beat %+v", got)
		}
		b.Resumes("a")
		b.Rests("nobody")
		after(time.Second)
		if got := d.last(t); got.ActiveTasks != 2 || got.CurrentTask != "first" {
			t.Errorf("beat %+v", got)
		}
	})
}

func TestErrorRateIsTrue(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		for i := range 4 {
			b.Turn([]string{"", "bad", "", "worse"}[i])
		}
		after(31 * time.Second)
		if got := d.last(t); got.ErrorRate != 0.5 || got.SampleError != "worse" {
			t.Errorf("rate %v, %q", got.ErrorRate, got.SampleError)
		}
		for range 16 {
			b.Turn("")
		}
		after(30 * time.Second)
		if got := d.last(t); got.ErrorRate != 0.1 {
			t.Errorf("rate %v", got.ErrorRate)
		}
		after(6 * time.Minute)
		if got := d.last(t); got.ErrorRate != 0 || got.SampleError != "" {
			t.Errorf("after a quiet while: rate %v, %q", got.ErrorRate, got.SampleError)
		}
	})
}

func TestWedged(t *testing.T) {
	d := &double{}
	var why atomic.Pointer[string]
	says := func(s string) { why.Store(&s) }
	says("nobody is logged in")
	within(t, d, func(c *presence.Config) { c.Wedged = func() string { return *why.Load() } }, func(t *testing.T, b *bench) {
		if got := d.last(t); got.RuntimeState != "wedged" || got.SampleError != "nobody is logged in" {
			t.Errorf("beat %+v", got)
		}
		after(10 * time.Second)
		says("")
		b.Changed()
		after(0)
		if got := d.last(t); got.at != 10*time.Second || got.RuntimeState != "" || got.SampleError != "" {
			t.Errorf("beat %+v", got)
		}
	})
}

func TestTextsAreShortAndRedacted(t *testing.T) {
	d := &double{}
	within(t, d, func(c *presence.Config) {
		c.Redact = func(s string) string { return strings.ReplaceAll(s, "planted-secret", "[REDACTED]") }
		c.Tools = func() []string { return []string{"mcp__molecule__list_peers"} }
	}, func(t *testing.T, b *bench) {
		after(time.Second)
		b.Turn(strings.Repeat("planted-secret ü", 1000))
		b.Began("a", "with planted-secret "+strings.Repeat("ü planted-secret", 1<<20))
		after(time.Second)
		got := d.last(t)
		if utf8.RuneCountInString(got.CurrentTask) > 60 || utf8.RuneCountInString(got.SampleError) > 500 ||
			strings.Contains(got.CurrentTask+got.SampleError, "planted") || !utf8.ValidString(got.CurrentTask+got.SampleError) {
			t.Errorf("beat %q, %q", got.CurrentTask, got.SampleError)
		}
		b.Began("z", "")
		b.Ended("a")
		b.Began("blanks", "look:"+strings.Repeat("\n", 4096-5-8)+"planted-secret")
		b.Ended("z")
		after(time.Second)
		if got := d.last(t); got.CurrentTask != "look: …" {
			t.Errorf("beat %q", got.CurrentTask)
		}
		if fmt.Sprint(got.LoadedMCPTools) != "[mcp__molecule__list_peers]" {
			t.Errorf("tools %v", got.LoadedMCPTools)
		}
	})
}
