package channel_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A tally counts what a channel does.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what] += n
}

func (c *tally) Polled(w string, err error)   { c.add(fmt.Sprint("polled ", w, " ", err == nil), 1) }
func (c *tally) Accepted(w string, rows int)  { c.add("accepted "+w, rows) }
func (c *tally) Replied(w string, taken bool) { c.add(fmt.Sprint("replied ", w, " ", taken), 1) }

func (c *tally) get(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[what]
}

// TestCounted: each row and each reply is counted once, however often they are tried.
func TestCounted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, counts := &desk{}, &tally{}
		r := open(t, dir, d, &clerk{}, func(c *channel.Config) { c.Metrics = counts })
		defer r.stop()
		d.put("", "one")
		d.put("", "two")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		// The platform shows what the user is told as rows, too.
		if rows, sent := counts.get("accepted "+ours), counts.get("replied "+ours+" true"); rows != 4 || sent != 2 {
			t.Errorf("%d rows, %d replies", rows, sent)
		}
		if ok, failed := counts.get("polled "+ours+" true"), counts.get("polled "+ours+" false"); ok < 4 || failed != 0 {
			t.Errorf("%d polls, %d of them failed", ok+failed, failed)
		}
		d.set(func() { d.fail = func(string) error { return unavailable() } })
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if counts.get("polled "+ours+" false") == 0 {
			t.Error("no poll has failed")
		}
		d.set(func() {
			d.fail = func(op string) error {
				if op == "notify" {
					return &platform.Error{Status: 403}
				}
				return nil
			}
		})
		d.put("", "three")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if dead := counts.get("replied " + ours + " false"); dead != 1 {
			t.Errorf("%d dead letters", dead)
		}
	})
}
