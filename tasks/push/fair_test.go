package push

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const well = "well.example"

// TestReceiversOfOneThatHang: what a peer's receivers keep, of any number of names, is half
// of the places. Nobody else waits for them.
func TestReceiversOfOneThatHang(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 300 {
			host := fmt.Sprintf("%d.hangs.example", i%100)
			w.takes(host, never)
			w.tells("peer-9", host)
		}
		w.settle()
		for range 3 { // at any time
			if n := w.inFlight(); n > mostPosts/2 {
				t.Errorf("one peer has %d posts in flight", n)
			}
			before := w.begun(well)
			w.tells("", well)
			w.tells("peer-8", well)
			w.settle()
			if n := w.begun(well) - before; n != 2 {
				t.Errorf("%d of two others are posted at once", n)
			}
			time.Sleep(7 * time.Second)
			synctest.Wait()
		}
	})
}

// TestPeersUnderEverNewNames hold no place of the user's, and those of other peers no
// longer than it takes to try each once that came before.
func TestPeersUnderEverNewNames(t *testing.T) {
	inWorld(t, func(w *world) {
		names := 0
		flood := func(n int) {
			for range n {
				names++
				host := fmt.Sprintf("%d.hangs.example", names)
				w.takes(host, never)
				w.tells(fmt.Sprint("peer-", names), host)
			}
			w.settle()
		}
		flood(200)
		if n := w.inFlight(); n != mostPosts*3/4 {
			t.Errorf("peers have %d posts in flight", n)
		}
		w.tells("", well)
		w.tells("", well)
		w.settle()
		if n := w.begun(well); n != 2 {
			t.Errorf("%d of the user's two are posted at once", n)
		}
		w.tells("peer-honest", "honest.example")
		began := time.Now()
		for w.begun("honest.example") == 0 && time.Since(began) < 10*time.Minute {
			flood(10)
			time.Sleep(time.Second)
		}
		if took := time.Since(began); took > 100*time.Second {
			t.Errorf("a peer waited for %s behind 200 others", took)
		}
	})
}

// TestSlowHost: a host that has kept posts waiting has one place for those of all tasks,
// the first ones too, until it answers in time or that is long ago.
func TestSlowHost(t *testing.T) {
	for name, wait := range map[string]time.Duration{"never": never, "late": 9 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				const host, same = "host.example", "HOST.example."
				takes := func(wait time.Duration) {
					w.takes(host, wait)
					w.takes(same, wait)
				}
				takes(wait)
				w.tells("", host)
				w.tells("", host)
				w.settle()
				if n := w.inFlight(); n != mostOfHost {
					t.Errorf("%d of the first posts are in flight", n)
				}
				time.Sleep(defaultTimeout)
				for range 20 {
					w.tells("", host)
					w.tells("", same)
				}
				for range 5 {
					w.tells("", well)
					w.settle()
					if n := w.inFlight(); n != 1 {
						t.Errorf("%d posts to a slow host are in flight", n)
					}
					time.Sleep(defaultTimeout)
				}
				if n := w.begun(well); n != 5 {
					t.Errorf("%d of 5 posts to another host have begun", n)
				}
				takes(0)
				time.Sleep(time.Hour)
				w.empty()
				takes(never)
				w.tells("", host)
				w.tells("", host)
				w.settle()
				if n := w.inFlight(); n != mostOfHost {
					t.Errorf("%d posts are in flight to a host that has answered", n)
				}
			})
		})
	}
}

// TestHostsOfPeers: what is made to hang at a host by a peer is not held against the
// user's posts to it.
func TestHostsOfPeers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.takes(well, never)
		for range 10 {
			w.tells("peer-9", well)
		}
		w.settle()
		time.Sleep(65 * time.Second) // one has just been begun
		w.takes(well, 0)
		before := w.begun(well)
		w.tells("", well)
		w.tells("", well)
		w.settle()
		if n := w.begun(well) - before; n < 2 {
			t.Errorf("%d of the user's two are posted at once", n)
		}
	})
}

// TestSlowHosts have half of the places together, like what has failed, also for first
// posts: here they answer, so that there is nothing to repeat.
func TestSlowHosts(t *testing.T) {
	inWorld(t, func(w *world) {
		tells := func() {
			for i := range 50 {
				host := fmt.Sprintf("%d.late.example", i)
				w.takes(host, 9*time.Second)
				w.tells("", host)
			}
			w.settle()
		}
		tells()
		if n := w.inFlight(); n != mostPosts/2 {
			t.Errorf("%d first posts are in flight", n)
		}
		time.Sleep(time.Minute)
		w.empty()
		tells()
		if n := w.inFlight(); n != mostRepeated/2 {
			t.Errorf("%d first posts to slow hosts are in flight", n)
		}
	})
}

// TestRepetitionsOfOne leave room for those of others, too.
func TestRepetitionsOfOne(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 100 {
			host := fmt.Sprintf("%d.hangs.example", i)
			w.takes(host, never)
			w.tells("", host)
		}
		w.takes("peer.example", 6*time.Second)
		w.tells("peer-1", "peer.example")
		w.settle()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := w.inFlight(); n > mostRepeated/2 {
			t.Errorf("%d repetitions of one sender are in flight", n)
		}
		before := w.begun("peer.example")
		w.tells("peer-1", "peer.example")
		w.settle()
		if n := w.begun("peer.example") - before; n != 1 {
			t.Error("the other's is not posted at once")
		}
	})
}
