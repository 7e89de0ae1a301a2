package push

import (
	"testing"
	"time"
)

// TestReceivers: a host has two posts at the same time, and one after it has kept a post waiting, until
// it answers in time. That it cannot be reached says nothing.
func TestReceivers(t *testing.T) {
	const url = "https://hook.example/a"
	now := time.Now()
	r := NewReceivers(10*time.Second, func() time.Time { return now })
	post := func(took time.Duration, answered bool) {
		t.Helper()
		end, ok := r.Begin(url)
		if !ok {
			t.Fatal("there is no room for a first post")
		}
		now = now.Add(took)
		end(answered)
	}
	wantRoom := func(want int) {
		t.Helper()
		var ends []func(bool)
		for r.Room(url) {
			end, _ := r.Begin(url)
			ends = append(ends, end)
		}
		if len(ends) != want {
			t.Errorf("there is room for %d posts, want %d", len(ends), want)
		}
		if _, ok := r.Begin(url); ok {
			t.Error("one more begins")
		}
		for _, end := range ends {
			end(false)
		}
	}
	wantRoom(mostOfHost)
	post(5*time.Second, true)
	wantRoom(1)
	post(time.Millisecond, false)
	wantRoom(1)
	post(time.Millisecond, true)
	wantRoom(mostOfHost)
}
