package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// pause is what lies at least between two refusals of one network.
const pause = 300 * time.Millisecond

// A guesser tries wrong credentials at one door.
type guesser struct {
	name  string
	guess func(wrong string) call
	right call
}

func (x *world) guessers() []guesser {
	bearer := func(method, path, token, body string) call {
		return call{method: method, path: path, body: body, header: []string{"Authorization: Bearer " + token, "Content-Type: application/json"}}
	}
	get := rpc("GetTask", object{"id": x.task})
	return []guesser{
		{"JSON-RPC", func(wrong string) call { return bearer("POST", "/", wrong, get) }, bearer("POST", "/", theToken, get)},
		{"REST", func(wrong string) call { return bearer("GET", "/tasks", wrong, "") }, bearer("GET", "/tasks", theToken, "")},
		{"metrics", func(wrong string) call { return bearer("GET", "/metrics", wrong, "") }, bearer("GET", "/metrics", theToken, "")},
		{"the platform's routes", func(wrong string) call { return bearer("GET", "/internal/a2a-auth-status", wrong, "") }, bearer("GET", "/internal/a2a-auth-status", theInbound, "")},
		{"the form", func(wrong string) call {
			return call{method: "POST", path: "/console/login", body: "token=" + wrong, header: []string{"Content-Type: application/x-www-form-urlencoded"}}
		}, call{method: "POST", path: "/console/login", body: "token=" + theToken, header: []string{"Content-Type: application/x-www-form-urlencoded"}}},
	}
}

// guesses has each of them guess, one after the other, for all of loopback is one network, until there is no room to wait in. The
// right credential of the same address passes while guesses wait.
func (x *world) guesses(t *testing.T) {
	for _, g := range x.guessers() {
		t.Run(g.name, func(t *testing.T) {
			overtaken := false
			for range 3 { // the guesses may be through before the right one is sent, on a machine that is busy
				if overtaken = x.guessesAt(t, g); overtaken || t.Failed() {
					break
				}
			}
			if !overtaken && !t.Failed() {
				t.Error("the right credential waits for the guesses of its address")
			}
			if !strings.Contains(x.Log(), "127.0.0.0/8") {
				t.Error("the log does not say that this machine guesses")
			}
		})
	}
}

// guessesAt has one guess from an address, and reports whether the right credential had its
// answer before they had.
func (x *world) guessesAt(t *testing.T, g guesser) (overtaken bool) {
	var all sync.WaitGroup
	var refused, turnedAway atomic.Int32
	begun := time.Now()
	full := make(chan struct{})
	for i := range 24 {
		all.Go(func() {
			got := x.send(g.guess(fmt.Sprintf("wrong-token-of-a-stranger-%d", i)))
			clean(t, g.name, got)
			switch got.status {
			case http.StatusTooManyRequests:
				if got.header.Get("Retry-After") == "" {
					t.Errorf("too many, and no word when to come again: %s", got)
				}
				if turnedAway.Add(1) == 1 {
					close(full)
				}
			case http.StatusUnauthorized, http.StatusForbidden:
				refused.Add(1)
			default:
				t.Errorf("a wrong credential: %s", got)
			}
		})
	}
	select {
	case <-full:
	case <-time.After(progtest.Patience):
		t.Fatal("there is always room for one guess more")
	}
	got, waiting := x.send(g.right), 24-refused.Load()-turnedAway.Load()
	if got.status >= 400 {
		t.Errorf("the right credential, while %d guesses wait: %s", waiting, got)
	}
	all.Wait()
	if n := refused.Load(); n < 2 || time.Since(begun) < time.Duration(n)*pause {
		t.Errorf("%d guesses were refused within %v", n, time.Since(begun))
	}
	return waiting > 0
}
