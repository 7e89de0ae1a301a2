package alarm

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAlarm(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(a *Alarm)
		want []time.Duration // at which it rings
	}{
		"not set":     {func(*Alarm) {}, nil},
		"once":        {func(a *Alarm) { a.After(time.Second) }, []time.Duration{time.Second}},
		"put off":     {func(a *Alarm) { a.After(time.Second); a.After(3 * time.Second) }, []time.Duration{3 * time.Second}},
		"put forward": {func(a *Alarm) { a.After(3 * time.Second); a.After(time.Second) }, []time.Duration{time.Second}},
		"put off when it was about to ring": {func(a *Alarm) {
			a.After(time.Second)
			time.Sleep(999 * time.Millisecond)
			a.After(time.Second)
		}, []time.Duration{1999 * time.Millisecond}},
		"taken away": {func(a *Alarm) { a.After(time.Second); a.After(0) }, nil},
		"set again after it was taken away": {func(a *Alarm) {
			a.After(time.Second)
			a.After(0)
			time.Sleep(2 * time.Second)
			a.After(time.Second)
		}, []time.Duration{3 * time.Second}},
		"twice": {func(a *Alarm) {
			a.After(time.Second)
			time.Sleep(2 * time.Second)
			a.After(2 * time.Second)
		}, []time.Duration{time.Second, 4 * time.Second}},
		"stopped": {func(a *Alarm) { a.After(time.Second); a.Stop(); a.After(time.Second) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var mu sync.Mutex // each ring is a goroutine of its own
				var rings []time.Duration
				a := New(func() {
					mu.Lock()
					defer mu.Unlock()
					rings = append(rings, time.Since(begun))
				})
				c.set(a)
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(rings) != len(c.want) {
					t.Fatalf("it rings at %v, want %v", rings, c.want)
				}
				for i := range rings {
					if rings[i] != c.want[i] {
						t.Errorf("it rings at %v, want %v", rings, c.want)
					}
				}
			})
		})
	}
}
