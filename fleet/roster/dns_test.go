package roster_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
)

// names is a resolver whose answer is set by the test.
type names struct {
	mu     sync.Mutex
	answer []string
	err    error
	hangs  bool
	asked  []time.Time
}

// says sets the answer.
func (n *names) says(err error, answer ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer, n.err, n.hangs = answer, err, false
}

func (n *names) hang() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hangs = true
}

func (n *names) times() []time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.asked)
}

func (n *names) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.asked = append(n.asked, time.Now())
	answer, err, hangs := n.answer, n.err, n.hangs
	n.mu.Unlock()
	if network != "ip" || host != "machines.svc" {
		return nil, errors.New("asked for " + network + " of " + host)
	}
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var all []netip.Addr
	for _, a := range answer {
		all = append(all, netip.MustParseAddr(a))
	}
	return all, err
}

func following(t *testing.T, n *names) *hearer {
	t.Helper()
	source, err := roster.ParseDNS("machines.svc:8443#sha256:"+pinned, n)
	if err != nil {
		t.Fatal(err)
	}
	return listen(t, source)
}

const turn = 6*time.Second + time.Millisecond // within which a look-up is

// TestDNS: the addresses of a name are followed, and each is spoken to as the name.
func TestDNS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{answer: []string{"10.0.0.2", "::ffff:10.0.0.1", "10.0.0.2", "fd00::1"}}
		h := following(t, n)
		got := h.last(t)
		if got.names() != "10.0.0.1:8443 10.0.0.2:8443 [fd00::1]:8443" || got.trouble != "" {
			t.Fatalf("told %+v", got)
		}
		if e := got.entries[0]; e.ServerName != "machines.svc" || e.Fingerprint != pinned || e.Name != "machines.svc:8443 (10.0.0.1)" {
			t.Errorf("an entry is %+v", e)
		}
		n.says(nil, "10.0.0.3", "10.0.0.1")
		time.Sleep(turn)
		if got := h.last(t); got.names() != "10.0.0.1:8443 10.0.0.3:8443" || got.trouble != "" {
			t.Errorf("told %+v", got)
		}
		n.says(nil, "10.0.0.1", "10.0.0.3") // another order is the same list
		time.Sleep(time.Hour)
		if n := len(h.told()); n != 2 {
			t.Errorf("told %d times", n)
		}
		n.jitters(t)
	})
}

// jitters: the look-ups of an hour are 5 s apart, but not all of them the same.
func (n *names) jitters(t *testing.T) {
	least, most, asked := time.Hour, time.Duration(0), n.times()
	for i := 1; i < len(asked); i++ {
		least, most = min(least, asked[i].Sub(asked[i-1])), max(most, asked[i].Sub(asked[i-1]))
	}
	if least < 4*time.Second || most > 6*time.Second || most-least < time.Second || len(asked) < 600 {
		t.Errorf("%d look-ups, %v to %v apart", len(asked), least, most)
	}
}

// TestDNSFails: a failure keeps the list for as long as it lasts, and is told.
func TestDNSFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{answer: []string{"10.0.0.1"}}
		h := following(t, n)
		h.last(t)
		n.says(&net.DNSError{Err: "server misbehaving", Name: "machines.svc", IsTemporary: true})
		time.Sleep(time.Hour)
		if got := h.last(t); got.names() != "10.0.0.1:8443" || !strings.Contains(got.trouble, "cannot be looked up, so the list stays as it was") {
			t.Errorf("told %+v", got)
		}
		n.hang()
		time.Sleep(2 * turn)
		if got := h.last(t); got.names() != "10.0.0.1:8443" || !strings.Contains(got.trouble, "deadline") {
			t.Errorf("told %+v", got)
		}
		n.says(nil, "10.0.0.1")
		time.Sleep(2 * turn)
		if got := h.last(t); got.names() != "10.0.0.1:8443" || got.trouble != "" {
			t.Errorf("told %+v", got)
		}
	})
}

// TestDNSVanishes: that a name has no addresses is believed when it is said three times, and said at once.
func TestDNSVanishes(t *testing.T) {
	for name, gone := range map[string]error{"no-such-name": &net.DNSError{Err: "no such host", IsNotFound: true}, "no-address": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &names{err: gone}
				h := following(t, n)
				if got := h.last(t); got.names() != "" || !strings.Contains(got.trouble, "has no addresses: see") {
					t.Errorf("at first: %+v", got)
				}
				n.says(nil, "10.0.0.1")
				time.Sleep(turn)
				n.says(gone)
				time.Sleep(turn)
				if got := h.last(t); got.names() != "10.0.0.1:8443" || !strings.Contains(got.trouble, "until that is sure") {
					t.Errorf("once: %+v", got)
				}
				time.Sleep(2 * turn)
				if got := h.last(t); got.names() != "" || !strings.Contains(got.trouble, "has no addresses: see") {
					t.Errorf("three times: %+v", got)
				}
			})
		})
	}
}

// TestDNSIsMissedForAMoment: it is not believed of a name server that has answers between.
func TestDNSIsMissedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{answer: []string{"10.0.0.1"}}
		h := following(t, n)
		h.last(t)
		for range 10 {
			for range 2 {
				asked := len(n.times())
				n.says(&net.DNSError{Err: "no such host", IsNotFound: true})
				n.next(asked)
			}
			asked := len(n.times())
			n.says(nil, "10.0.0.1")
			n.next(asked)
		}
		for _, told := range h.told() {
			if told.names() == "" {
				t.Errorf("the list is gone: %+v", told)
			}
		}
	})
}

// next waits for the look-up behind the n-th.
func (n *names) next(asked int) {
	for synctest.Wait(); len(n.times()) == asked; synctest.Wait() {
		time.Sleep(time.Millisecond)
	}
}
