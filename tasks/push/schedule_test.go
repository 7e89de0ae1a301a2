package push

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestJudge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status     int
		retryAfter string
		want       deliver.Verdict
		wait       time.Duration
	}{
		{200, "", deliver.Arrived, 0}, {202, "", deliver.Arrived, 0}, {204, "5", deliver.Arrived, 0}, {299, "", deliver.Arrived, 0},
		{408, "", deliver.Again, 0}, {425, "", deliver.Again, 0}, {429, "7", deliver.Again, 7 * time.Second}, {500, "", deliver.Again, 0}, {502, "", deliver.Again, 0},
		{503, "100000", deliver.Again, 10 * time.Minute}, {503, "-5", deliver.Again, 0}, {503, "soon", deliver.Again, 0}, {504, "", deliver.Again, 0}, {599, "", deliver.Again, 0},
		{503, now.Add(90 * time.Second).Format(http.TimeFormat), deliver.Again, 90 * time.Second},
		{503, now.Add(-time.Hour).Format(http.TimeFormat), deliver.Again, 0}, {503, now.Add(48 * time.Hour).Format(http.TimeFormat), deliver.Again, 10 * time.Minute},
		{301, "", deliver.Refused, 0}, {304, "", deliver.Refused, 0}, {307, "", deliver.Refused, 0}, {308, "", deliver.Refused, 0},
		{400, "", deliver.Refused, 0}, {401, "", deliver.Refused, 0}, {403, "", deliver.Refused, 0}, {404, "9", deliver.Refused, 0}, {405, "", deliver.Refused, 0}, {410, "", deliver.Refused, 0}, {413, "", deliver.Refused, 0},
	} {
		a := judge(c.status, c.retryAfter, now)
		if a.Verdict != c.want || a.Wait != c.wait || a.Status != c.status {
			t.Errorf("%d, Retry-After %q: %+v", c.status, c.retryAfter, a)
		}
	}
	if a := failure(fmt.Errorf("post: %w", netguard.ErrForbidden)); a.Verdict != deliver.Refused {
		t.Errorf("%+v", a)
	}
	if a := failure(errors.New("reset")); a.Verdict != deliver.Again {
		t.Errorf("%+v", a)
	}
}

// A plan is a schedule without posts.
type plan struct {
	*schedule
	now time.Time
	id  int64
}

func newPlan() *plan { return &plan{schedule: newSchedule(), now: time.Now()} }

// want puts a delivery of a task of its own on the schedule, due in so long.
func (p *plan) want(from Sender, host string, in time.Duration, d store.Delivery) {
	p.id++
	d.ID, d.Task, d.Target, d.Due = p.id, fmt.Sprint("task-", p.id), "c", p.now.Add(in)
	p.add(d, from, host)
}

// launched posts what may be posted now, and returns whose that is, in order.
func (p *plan) launched() (all []*lane) {
	for l, _ := p.next(p.now); l != nil; l, _ = p.next(p.now) {
		p.launch(l, p.now)
		all = append(all, l)
	}
	return all
}

func count(all []*lane, of func(*lane) bool) (n int) {
	for _, l := range all {
		if of(l) {
			n++
		}
	}
	return n
}

func TestSchedule(t *testing.T) {
	p := newPlan()
	for i := range 40 {
		p.want(Sender{}, fmt.Sprint("bad-", i), -time.Hour, store.Delivery{Tries: 1})
		p.want(Sender{}, "hangs", -time.Minute, store.Delivery{})
	}
	p.want(Sender{}, "well", 0, store.Delivery{})
	p.want(Sender{}, "well", time.Minute, store.Delivery{})
	got := p.launched()
	at := func(host string) int { return count(got, func(l *lane) bool { return l.host == host }) }
	if at("hangs") != mostOfHost || at("well") != 1 || p.repeated.all != mostRepeated/2 || len(got) != mostRepeated/2+mostOfHost+1 {
		t.Errorf("%d to the host that hangs, %d to the one that does not, %d repeated, %d in all", at("hangs"), at("well"), p.repeated.all, len(got))
	}
	if _, later := p.next(p.now); !later.Equal(p.now.Add(time.Minute)) {
		t.Errorf("look again at %s", later.Sub(p.now))
	}
	for _, l := range got {
		p.land(l, deliver.Settlement{State: deliver.Sent}, p.now)
	}
	if p.posts.all != 0 || p.repeated.all != 0 || len(p.hosts.flying) != 0 {
		t.Errorf("nothing is in flight, and %d, %d and %v are counted", p.posts.all, p.repeated.all, p.hosts.flying)
	}
}

// TestShares: a sender has half of the places, of those for repetitions, and of those for
// what is large; and peers have three quarters of each, whatever they call themselves.
func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		delivery store.Delivery
		most     int
	}{
		"first":    {store.Delivery{}, mostPosts},
		"repeated": {store.Delivery{Tries: 1}, mostRepeated},
		"large":    {store.Delivery{Size: large + 1}, mostLarge},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan()
			host := 0
			want := func(from Sender) {
				for range 2 * mostPosts {
					host++
					p.want(from, fmt.Sprint("host-", host), 0, c.delivery)
				}
			}
			want(Sender{Name: "one", Peer: true})
			if n := len(p.launched()); n != c.most/2 {
				t.Errorf("one peer has %d places of %d", n, c.most)
			}
			for i := range 2 * mostPosts {
				want(Sender{Name: fmt.Sprint("another-", i), Peer: true})
			}
			if p.launched(); p.posts.all != c.most*3/4 {
				t.Errorf("peers have %d places of %d", p.posts.all, c.most)
			}
			want(Sender{})
			if n := len(p.launched()); n != c.most/4 {
				t.Errorf("the user has %d places of %d", n, c.most)
			}
		})
	}
}

// TestTurns: the user is the next, then the peer that has the fewest posts in flight, then
// the one whose last turn is the longest ago, however long the others are due.
func TestTurns(t *testing.T) {
	p := newPlan()
	host := 0
	want := func(name string, peer bool, n int, since time.Duration) {
		for range n {
			host++
			p.want(Sender{name, peer}, fmt.Sprint("host-", host), -since, store.Delivery{})
		}
	}
	want("a", true, 4, time.Hour)
	want("b", true, 2, time.Minute)
	want("user", false, 2, 0)
	want("c", true, 3, time.Second)
	names := func(all []*lane) (names []string) {
		for _, l := range all {
			names = append(names, l.queue.sender.Name)
		}
		return names
	}
	all := p.launched()
	if got := names(all); !slices.Equal(got, strings.Fields("user user a b c a b c a c a")) {
		t.Errorf("turns of %v", got)
	}
	want("d", true, 2, time.Hour) // is new
	want("b", true, 2, time.Minute)
	want("c", true, 2, time.Minute)
	for _, l := range all {
		if l.queue.sender.Name != "c" {
			p.land(l, deliver.Settlement{State: deliver.Sent}, p.now)
		}
	}
	// c has three in flight, b and d none; d has come before b, which has come anew.
	if got := names(p.launched()); !slices.Equal(got, strings.Fields("b d b d c c")) {
		t.Errorf("turns of %v", got)
	}
}

// TestReplacedReceiver: a lane is counted where it goes, and not where its setting sent it
// when it was made.
func TestReplacedReceiver(t *testing.T) {
	p := newPlan()
	at := place{"slow", false}
	p.hosts.learn(at, slow, p.now)
	p.want(Sender{}, "slow", -time.Minute, store.Delivery{})
	p.want(Sender{}, "slow", 0, store.Delivery{})
	all := p.launched()
	if len(all) != 1 {
		t.Fatalf("%d are launched, want one at a time", len(all))
	}
	all[0].flight.host, all[0].flight.treatment = "other", prompt
	p.land(all[0], deliver.Settlement{State: deliver.PutOff, Due: p.now}, p.now)
	if n := len(p.launched()); n != 2 || p.hosts.flying[at] != 1 || !p.hosts.isSlow(at, p.now) {
		t.Errorf("%d are launched, %d of them to the host that is slow", n, p.hosts.flying[at])
	}
}

func TestKnownHosts(t *testing.T) {
	h, start := newHosts(), time.Now()
	at := func(i int) place { return place{fmt.Sprint("host-", i), false} }
	for i := range 2 * mostSlow {
		h.learn(at(i), slow, start.Add(time.Duration(i)))
	}
	now := start.Add(time.Minute)
	if len(h.slow) != mostSlow || h.isSlow(at(mostSlow-1), now) || !h.isSlow(at(mostSlow), now) || !h.isSlow(at(2*mostSlow-1), now) {
		t.Errorf("%d hosts are known, or not the newest", len(h.slow))
	}
	if h.isSlow(place{at(2*mostSlow - 1).host, true}, now) {
		t.Error("what the user has met is held against peers")
	}
	if h.isSlow(at(2*mostSlow-1), now.Add(slowFor)) {
		t.Error("what is long ago is held against a host")
	}
	h.learn(at(mostSlow), unknown, now)
	if !h.isSlow(at(mostSlow), now) {
		t.Error("a post that did not come so far has told something")
	}
	h.learn(at(mostSlow), prompt, now)
	if h.isSlow(at(mostSlow), now) {
		t.Error("a host has answered, and that was not noted")
	}
}
