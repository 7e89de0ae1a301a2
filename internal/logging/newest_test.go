package logging

import (
	"fmt"
	"strings"
	"testing"
)

// TestNewest: of what is given out without end the newest are known, and what is in use stays
// one of them.
func TestNewest(t *testing.T) {
	r := NewRedactor("for-good")
	platform, login := r.Newest(3), r.Newest(3)
	login("login-token", "short")
	for i := range 100 {
		platform("in-use-token", fmt.Sprintf("token-%d", i))
	}
	platform("for-good", "token-99")
	said := "for-good login-token short in-use-token token-99. token-98. token-97. token-96."
	if got, want := r.Known(said), "*** *** short *** ***. ***. token-97. token-96."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	large := func(i int) string { return strings.Repeat("x", mostBytes/2) + fmt.Sprintf("-%d-", i) }
	for i := range 3 {
		login(large(i))
	}
	login(strings.Repeat("y", mostBytes+1))
	if got := r.Known(large(2)); got != mask {
		t.Error("the newest is not known where they are large")
	}
	if got := r.Known(large(1)); got == mask {
		t.Error("large ones are known without a bound")
	}
	if known := len(r.sources[1].known); known != 1 || r.sources[1].bytes != len(large(2)) {
		t.Errorf("%d secrets of %d bytes are known", known, r.sources[1].bytes)
	}
}
