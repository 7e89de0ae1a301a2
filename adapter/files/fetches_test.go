package files

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// TestFetchesAtATime are bounded, those for other agents to a quarter, and one that waits for
// its place ends with its caller.
func TestFetchesAtATime(t *testing.T) {
	left, leave := context.WithCancel(t.Context())
	leave()
	f := NewFetches()
	var peers, others []func()
	enter := func(peer bool) {
		t.Helper()
		leave, err := f.enter(t.Context(), peer)
		if err != nil {
			t.Fatal(err)
		}
		if peer {
			peers = append(peers, leave)
		} else {
			others = append(others, leave)
		}
	}
	full := func(peer bool) {
		t.Helper()
		for range 64 { // of a place and an end, either may be seen first
			if _, err := f.enter(left, peer); !errors.Is(err, context.Canceled) {
				t.Fatalf("another agent's %v: %v", peer, err)
			}
		}
	}
	full(false) // who has left enters nothing, though there are places
	for range peerFetches {
		enter(true)
	}
	full(true)
	for range mostFetches - peerFetches {
		enter(false)
	}
	full(false)
	peers[0]()
	enter(false) // what other agents do not take is for all
	full(true)
	full(false)
	others[0]()
	enter(true)
	full(false)
}

// TestNothingIsFetchedWithoutAPlace, and that is no fault of the file's.
func TestNothingIsFetchedWithoutAPlace(t *testing.T) {
	visits := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits++ }))
	t.Cleanup(server.Close)
	fetches := NewFetches()
	f := New(Config{Work: t.TempDir(), Guard: netguard.New(netip.MustParsePrefix("127.0.0.0/8")), Fetches: fetches})
	defer f.Close()
	for range mostFetches {
		if _, err := fetches.enter(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := f.Stage(left, Incoming{Key: "k", Name: "a", URI: server.URL}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotHere) || visits != 0 {
		t.Errorf("%v after %d visits", err, visits)
	}
	<-fetches.all
	for i := range 2 { // each gives its place back
		if _, err := f.Stage(t.Context(), Incoming{Key: strconv.Itoa(i), Name: "a", URI: server.URL}); err != nil || visits != i+1 {
			t.Fatalf("%v after %d visits", err, visits)
		}
	}
}
