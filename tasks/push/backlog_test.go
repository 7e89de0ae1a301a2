package push

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// crowd has so many notifications of a sender wait for receivers that hang.
func (w *world) crowd(sender string, n int) {
	host := sender + ".example"
	w.takes(host, never)
	id := "crowd-" + sender
	w.taskOf(sender, id, setting("c", "https://"+host))
	payloads := make([]string, n)
	for i := range payloads {
		payloads[i] = fmt.Sprint(i)
	}
	w.tell(id, "c", payloads...)
	w.settle()
}

// TestFull: what waits of one sender has a bound, and what waits of all peers.
func TestFull(t *testing.T) {
	inWorld(t, func(w *world) {
		full := func(want string) {
			t.Helper()
			var got []string
			for _, sender := range []string{"", "peer-1", "peer-2", "peer-3"} {
				if w.d.Full(sender) {
					got = append(got, sender)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("full for %q, want %q", got, want)
			}
		}
		w.crowd("peer-1", mostWaiting-1)
		full("")
		w.tells("peer-1", well) // is taken, so there is room again
		full("")
		w.tells("peer-1", "peer-1.example")
		w.settle()
		full("peer-1")
		w.crowd("peer-2", mostWaitingOfPeers-mostWaiting)
		full("peer-1 peer-2 peer-3")
		w.stop()
		w.d = w.run() // the next process
		synctest.Wait()
		full("peer-1 peer-2 peer-3")
		w.takes("peer-1.example", 0)
		w.takes("peer-2.example", 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		w.empty()
		full("")
	})
}

// TestGivenUpWhereItIsFull: what has failed gives way, so that a sender, and peers all
// together, are full for minutes and not for a day.
func TestGivenUpWhereItIsFull(t *testing.T) {
	inWorld(t, func(w *world) {
		const more = 5
		w.crowd("peer-1", mostWaiting+more-1)
		w.tells("peer-2", "peer-1.example")
		w.settle()
		if !w.d.Full("peer-1") {
			t.Error("it is not full")
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if w.d.Full("peer-1") {
			t.Error("it is still full")
		}
		if n := strings.Count(w.log.String(), "is given up"); n != more {
			t.Errorf("%d are given up, want %d", n, more)
		}
		w.takes("peer-1.example", 0)
		time.Sleep(time.Hour)
		w.empty()
	})
}
