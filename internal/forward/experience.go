package forward

import (
	"net/http"
	"sync"
	"time"
)

// How long an endpoint is asked over HTTP before a WebSocket is tried again.
const (
	// askedAgain is for an endpoint that has none: its operator may give it one.
	askedAgain = 6 * time.Hour
	// muteAgain is for an endpoint that says nothing by them. An endpoint that is just ending looks the same.
	muteAgain = 10 * time.Minute
	// soonAgain is for an answer that says more of the moment than of the endpoint.
	soonAgain = time.Minute
	// mostTroubles is how often in a row codex is told to try again by a WebSocket.
	mostTroubles = 4
	// mostMute is how many sockets in a row may end without a word of the endpoint, although
	// something was asked: what stands before it takes an upgrade, and it does not.
	mostMute = 2
)

// An experience is what has come of asking an endpoint by a WebSocket. It is of this process:
// what was learned of an endpoint costs one round trip to learn again.
type experience struct {
	mu       sync.Mutex // guards the fields below
	spoken   bool       // it has answered by one
	mute     int        // how many have ended without a word, while none has had one
	troubles int        // how many upgrades it has failed in a row since it has spoken by one
	next     time.Time  // none is tried before
}

// declines reports whether it is no use to try one now.
func (e *experience) declines() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Now().Before(e.next)
}

// speaks reports whether the endpoint has answered by one, and has not refused one since.
func (e *experience) speaks() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.spoken
}

// spoke notes that the endpoint answers.
func (e *experience) spoke() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spoken, e.mute, e.troubles, e.next = true, 0, 0, time.Time{}
}

// troubled notes that an upgrade has met trouble, and reports whether codex is to try again: the endpoint
// has spoken by WebSockets, and not failed too often since.
func (e *experience) troubled() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.troubles++
	return e.spoken && e.troubles <= mostTroubles
}

// refused notes the status of an answer to an upgrade, 0 of none in time, and returns for how
// long no other is tried.
func (e *experience) refused(status int) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rest(restAfter(status))
}

// ended notes that a socket has ended without a word, and returns for how long none is tried. One of
// an endpoint that speaks by them was cut: all that have just been opened are, when it starts again.
// Where that goes on codex, which tries again, asks over HTTP by itself.
func (e *experience) ended() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.spoken {
		return 0
	}
	if e.mute++; e.mute < mostMute {
		return 0
	}
	return e.rest(muteAgain)
}

func (e *experience) rest(rest time.Duration) time.Duration {
	e.spoken, e.mute, e.troubles, e.next = false, 0, 0, time.Now().Add(rest)
	return rest
}

// restAfter tells an endpoint without WebSockets from one that would refuse or leave anything
// unanswered at the moment, a request over HTTP included.
func restAfter(status int) time.Duration {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return soonAgain
	}
	if hasTrouble(status) {
		return soonAgain
	}
	return askedAgain
}

// hasTrouble reports whether a status, 0 of no answer, is that of an endpoint which would leave any request
// unanswered at the moment.
func hasTrouble(status int) bool {
	return status == 0 || status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}
