// Package stayhttp keeps an HTTP client to HTTP. For a 101 Switching Protocols that the client has not asked
// for, Go hands out the connection itself as the body of the answer, and no time limit of the client or of
// the request ends a read of that: a host could keep the client waiting for ever.
package stayhttp

import (
	"errors"
	"net/http"
)

// ErrSwitched reports that a server has left HTTP. Nothing of what it says then is read.
var ErrSwitched = errors.New("it answered 101 Switching Protocols, which was not asked for")

// A Transport refuses a 101.
type Transport struct{ Via http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.Via.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		return res, err
	}
	_ = res.Body.Close()
	return nil, ErrSwitched
}

// CloseIdleConnections implements what [http.Client.CloseIdleConnections] looks for.
func (t Transport) CloseIdleConnections() {
	if via, ok := t.Via.(interface{ CloseIdleConnections() }); ok {
		via.CloseIdleConnections()
	}
}
