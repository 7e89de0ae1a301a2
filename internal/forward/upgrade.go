package forward

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	// mostSockets bounds those of one codex, which has one for each conversation that it holds.
	mostSockets = 512
	// upgradeTime is how long an endpoint has for the connection and the answer to an upgrade.
	// The first turn waits for as long where there is none.
	upgradeTime = 5 * time.Second
)

// isUpgrade reports whether codex asks to go on by a WebSocket.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/responses" && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// upgrade has codex speak with the endpoint by a WebSocket, until either has done with it.
//
// Only a 426 has codex ask over HTTP at once (seen on 0.169.0: of any other answer it makes an error
// of its stream, and tries again so often), and for as long as it holds the conversation. So it is
// the answer wherever the endpoint has none to give, or where HTTP says better what it has against
// the request: a key that is wrong, a limit. Of one that speaks by WebSockets and is out of reach for
// a moment codex hears that, and tries again.
func (f *Forwarder) upgrade(w http.ResponseWriter, r *http.Request, to destination) {
	if to.sockets.declines() || !f.relays.enter() {
		overHTTP(w)
		return
	}
	defer f.relays.leave()
	began := time.Now()
	endpoint, res, err := f.dial(r, to)
	if err != nil {
		f.refused(w, r, res, err)
		return
	}
	defer endpoint.CloseNow() //nolint:errcheck // it may be closed by then
	announce(w.Header(), res.Header, to.secret)
	codex, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer codex.CloseNow() //nolint:errcheck // as above
	f.relay(codex, endpoint, to, Call{Thread: r.Header.Get("Thread-Id"), Socket: true, Connect: time.Since(began)}).run(to.over)
}

// dial asks the endpoint for a WebSocket. The answer is nil where none has come.
func (f *Forwarder) dial(r *http.Request, to destination) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), upgradeTime)
	defer cancel()
	header := passing(r.Header)
	header.Set("Authorization", "Bearer "+to.key)
	client := &http.Client{Transport: f.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	url := *to.url
	url.Path, url.RawPath, url.RawQuery = to.url.Path+r.URL.Path, "", r.URL.RawQuery
	return websocket.Dial(ctx, url.String(), &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
}

// refused answers codex for an endpoint from which there is no WebSocket.
func (f *Forwarder) refused(w http.ResponseWriter, r *http.Request, res *http.Response, err error) {
	to := destinationOf(r)
	status := 0
	if res != nil {
		status = res.StatusCode
	}
	switch {
	case r.Context().Err() != nil: // codex has gone, or we do
		panic(http.ErrAbortHandler)
	case status == 0 && (to.sockets.speaks() || !errors.Is(err, context.DeadlineExceeded)):
		f.failed(w, r, err)
		return
	case status >= http.StatusInternalServerError && to.sockets.speaks():
		f.log.Debug("the model's endpoint takes no WebSocket at the moment", "host", to.url.Host, "status", status)
		refuse(w, http.StatusServiceUnavailable, "the model's endpoint "+to.url.Host+" takes no WebSocket at the moment")
		return
	}
	rest := to.sockets.refused(status)
	f.log.Info("the model's endpoint is asked over HTTP: it takes no WebSocket", "host", to.url.Host, "status", status, "again in", rest)
	overHTTP(w)
}

// overHTTP has codex ask over HTTP.
func overHTTP(w http.ResponseWriter) {
	refuse(w, http.StatusUpgradeRequired, "the model's endpoint is asked over HTTP")
}

// announce says in codex's answer what the endpoint's says, but for what is of its own connection.
func announce(to, from http.Header, secret *secret) {
	own := []string{"Connection", "Upgrade", "Keep-Alive", "Content-Length", "Transfer-Encoding", "Trailer", "Proxy-Authenticate", "Proxy-Connection"}
	for name, values := range from {
		if !slices.Contains(own, name) && !strings.HasPrefix(name, "Sec-Websocket-") {
			to[name] = slices.Clone(values)
		}
	}
	secret.header(to)
}
