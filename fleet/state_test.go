package fleet

import (
	"crypto/tls"
	"errors"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// TestWhy: a machine whose certificate is not trusted is there, and refused, and not taken for one that is silent.
func TestWhy(t *testing.T) {
	for _, c := range []struct {
		err   error
		state State
		words string
	}{
		{&url.Error{Op: "Get", URL: "https://m", Err: &tls.CertificateVerificationError{Err: errors.New("by an unknown authority")}}, Refused, "its certificate is not trusted (by an unknown authority)"},
		{&url.Error{Op: "Get", URL: "https://m", Err: syscall.ECONNREFUSED}, Lost, "it has ended"},
		{errors.New("no route"), Lost, "it cannot be reached"},
	} {
		if state, words := why(c.err); state != c.state || !strings.HasPrefix(words, c.words) {
			t.Errorf("%v: %s, %s", c.err, state, words)
		}
	}
}
