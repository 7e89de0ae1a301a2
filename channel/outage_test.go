package channel_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestOutage: ten minutes without a platform cost few requests, and are over with the
// first poll that succeeds.
func TestOutage(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		r := open(t, dir, d, &clerk{})
		defer r.stop()
		d.put("", "before")
		time.Sleep(6 * time.Second)
		for _, peer := range []string{"p1", "p2", "p3", "p4"} { // replies that are owed when it begins
			d.put(peer, "asked by "+peer)
		}
		d.put("", "asked before")
		began := look(d, func() int { return len(d.polls) })
		first := map[string]bool{}
		d.set(func() {
			d.fail = func(op string) error {
				if op == "poll" && !first[op] { // it goes while the replies are made
					first[op] = true
					return nil
				}
				return unavailable()
			}
		})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		polls, sends := look(d, func() int { return len(d.polls) })-began-1, look(d, func() int { return len(d.sends) })-1
		resends := sends - 5 // each was tried once before anybody knew
		if polls+max(resends, 0) > 20 || polls < 5 {
			t.Errorf("%d polls and %d sends, %d of them again", polls, sends, resends)
		}
		t.Logf("%d polls, %d sends", polls, sends)
		d.set(func() { d.fail = nil })
		d.put("", "while it was away")
		again := look(d, func() int { return len(d.polls) })
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if told := d.told(); !slices.Equal(told, []string{"re: before", "re: asked before", "re: while it was away"}) {
			t.Errorf("the user was told %q", told)
		}
		if letters := d.letters(); len(letters) != 4 {
			t.Errorf("the peers were told %v", letters)
		}
		if look(d, func() int { return len(d.polls) }) == again {
			t.Error("nobody has asked for a minute")
		}
	})
}

// TestBackoff: 1 s to 1 min, doubling, back to the interval with the first success; what
// the platform asks for goes before.
func TestBackoff(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{fail: func(op string) error { return unavailable() }}
		r := open(t, dir, d, &clerk{})
		defer r.stop()
		waits := func() (out []time.Duration) {
			d.mu.Lock()
			defer d.mu.Unlock()
			for i := 1; i < len(d.polls); i++ {
				out = append(out, d.polls[i].Sub(d.polls[i-1]))
			}
			d.polls = d.polls[len(d.polls)-1:]
			return out
		}
		time.Sleep(250 * time.Second)
		const s = time.Second
		if got := waits(); !slices.Equal(got, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s, 60 * s}) {
			t.Errorf("pauses: %v", got)
		}
		d.set(func() { d.fail = nil })
		time.Sleep(75 * time.Second)
		if got := waits(); !slices.Equal(got[1:3], []time.Duration{5 * s, 5 * s}) {
			t.Errorf("pauses when it is back: %v", got)
		}
		d.set(func() { d.fail = func(string) error { return unavailable() } })
		time.Sleep(9 * s)
		if got := waits(); len(got) < 2 || !slices.Equal(got[len(got)-2:], []time.Duration{s, 2 * s}) {
			t.Errorf("pauses of the next outage: %v", got)
		}
		d.set(func() {
			d.fail = func(string) error { return &platform.Error{Status: 429, RetryAfter: 42 * s} }
		})
		time.Sleep(100 * s)
		if got := waits(); !slices.Contains(got, 42*s) {
			t.Errorf("pauses: %v", got)
		}
	})
}

// TestLargePage: rows that are too many bytes together are asked for in smaller pages.
func TestLargePage(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		r := open(t, dir, d, c)
		defer r.stop()
		d.put("", "zero")
		time.Sleep(time.Second)
		for n := range 30 {
			d.put("p", "large", func(r *platform.Row) { r.Source = string(rune('a' + n)) })
		}
		d.set(func() { d.most = 5 })
		time.Sleep(time.Minute)
		if given := c.texts(); len(given) != 31 {
			t.Errorf("%d were given", len(given))
		}
	})
}

// TestOutageInACrowd: with more messages than are taken on, it is found out all the same
// whether the platform answers, by a poll of which nothing is kept.
func TestOutageInACrowd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		page := store.InboxPage{Workspace: ours}
		for n := range 5000 {
			page.Rows = append(page.Rows, store.InboxRow{Activity: fmt.Sprint(n), Kind: "canvas", Chat: "d", State: store.InboxAccepted})
		}
		page.Rows = append(page.Rows, store.InboxRow{Activity: "owed", Kind: "canvas", Chat: "c", State: store.InboxAccepted})
		if _, err := s.AcceptInbox(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AnswerInbox(t.Context(), 5001, store.InboxReply{ID: "r", Workspace: ours, Chat: "c", Body: []byte(`{"text":"owed"}`)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		d, c := &desk{fail: func(string) error { return unavailable() }}, &clerk{busy: 1 << 30}
		d.put("", "one too many")
		r := open(t, dir, d, c)
		defer r.stop()
		time.Sleep(10 * time.Minute)
		polls, sends := look(d, func() int { return len(d.polls) }), look(d, func() int { return len(d.sends) })
		if polls < 5 || polls+sends > 20 {
			t.Errorf("%d polls and %d sends", polls, sends)
		}
		d.set(func() { d.fail = nil })
		time.Sleep(2 * time.Minute)
		if told := d.told(); !slices.Equal(told, []string{"owed"}) || len(c.texts()) != 0 {
			t.Errorf("the user was told %q, given %q", told, c.texts())
		}
	})
}
