package push

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
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

// TestFullOfBytes: what waits has a bound in bytes, which counts what is about to be put into
// the outbox, in this process and the next.
func TestFullOfBytes(t *testing.T) {
	longtest.Mark(t)
	inWorld(t, func(w *world) {
		reserve := func(sender string, bytes int, want bool) {
			t.Helper()
			if got := w.d.Reserve(sender, bytes); got != want {
				t.Errorf("room for %d MiB of %q: %t", bytes>>20, sender, got)
			}
		}
		full := func(sender string, want bool) {
			t.Helper()
			if got := w.d.Full(sender); got != want {
				t.Errorf("full for %q: %t", sender, got)
			}
		}
		w.takes("hangs.example", never)
		w.taskOf("peer-1", "large", setting("c", "https://hangs.example"))
		put := func(bytes int) {
			reserve("peer-1", bytes, true)
			w.tell("large", "c", strings.Repeat("x", bytes-len("1.0 large/1.1\n")))
			w.settle()
		}
		reserve("peer-1", mostBytes+1, false)
		put(mostBytes - keptBytes)
		full("peer-1", false)
		put(1 << 10)
		full("peer-1", true)
		full("peer-2", false)
		reserve("peer-1", keptBytes, false)
		reserve("peer-1", keptBytes-1<<10, true) // and more is not: it is taken
		reserve("peer-1", 1, false)
		reserve("peer-2", mostBytesOfPeers-mostBytes+1, false)
		reserve("", mostBytes, true)

		w.stop()
		w.d = w.run() // the next process; nothing came of what was reserved last
		synctest.Wait()
		full("peer-1", true)
		full("", false)
		reserve("peer-1", keptBytes-1<<10, true)

		w.takes("hangs.example", 0)
		time.Sleep(time.Hour)
		w.settle()
		w.empty()
		full("peer-1", false)
		reserve("peer-1", mostBytes, true)
	})
}

// TestReservationThatLapses: what could not be committed takes no room for long.
func TestReservationThatLapses(t *testing.T) {
	inWorld(t, func(w *world) {
		reserve := func(want bool) {
			t.Helper()
			if got := w.d.Reserve("peer-1", mostBytes); got != want {
				t.Errorf("there is room: %t", got)
			}
		}
		reserve(true)
		time.Sleep(lapsed)
		w.settle()
		reserve(false)
		time.Sleep(time.Second)
		w.settle()
		reserve(true)
	})
}
