package forward

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
)

const (
	// mostSockets bounds those of one codex, which has one for each conversation that it holds. Each
	// takes two files.
	mostSockets = 512
	// upgradeTime is how long an endpoint has for the connection and the answer to an upgrade.
	// The first turn waits for as long where there is none.
	upgradeTime = 3 * time.Second
)

// isUpgrade reports whether codex asks to go on by a WebSocket.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/responses" && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		r.Header.Get("Sec-WebSocket-Key") != ""
}

// upgrade has codex speak with the endpoint by a WebSocket, until either has done with it.
//
// Only a 426 has codex ask over HTTP at once (seen on 0.169.0: of any other answer it makes an error
// of its stream, and tries again so often), and for as long as it holds the conversation. So it is
// the answer wherever the endpoint has none to give, or where HTTP says better what it has against
// the request: a key that is wrong, a limit. Of one that speaks by WebSockets and is out of reach for
// a moment codex hears that, and tries again.
func (f *Forwarder) upgrade(w http.ResponseWriter, r *http.Request) {
	to := destinationOf(r)
	if to.sockets.declines() || !f.sockets.enter() {
		askOverHTTP(w)
		return
	}
	defer f.sockets.leave()
	began := time.Now()
	endpoint, got, err := f.dial(r, to)
	if err != nil {
		f.refused(w, r, got, err)
		return
	}
	defer endpoint.CloseNow() //nolint:errcheck // it may be closed by then
	announce(w.Header(), got.header, to.secret)
	taken := &hijacked{ResponseWriter: w}
	codex, err := websocket.Accept(taken, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer codex.CloseNow() //nolint:errcheck // as above
	f.noteUse()
	s := f.relay(codex, endpoint, to, Call{Thread: r.Header.Get("Thread-Id"), Socket: true, Connect: time.Since(began)})
	s.cut = taken.conn.Close
	s.run(to.ctx)
}

// A handshake is how far an endpoint has got with an upgrade.
type handshake struct {
	reached bool // there was a connection
	status  int  // of its answer; 0 if there is none that can be read
	header  http.Header
}

// dial asks the endpoint for a WebSocket.
func (f *Forwarder) dial(r *http.Request, to destination) (*websocket.Conn, handshake, error) {
	var got handshake
	ctx, cancel := context.WithTimeout(r.Context(), upgradeTime)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { got.reached = false }, // the one ahead is lost
		GotConn: func(httptrace.GotConnInfo) { got.reached = true },
	})
	client := &http.Client{Transport: &f.spare, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	where := *to.url
	where.User, where.Path, where.RawPath, where.RawQuery = nil, to.url.Path+r.URL.Path, "", r.URL.RawQuery                            // over HTTP, too, no user is named
	conn, res, err := websocket.Dial(ctx, where.String(), &websocket.DialOptions{HTTPClient: client, HTTPHeader: to.header(r.Header)}) //nolint:bodyclose // it is read and closed, but for that of a 101, which is conn
	if res != nil {
		got.status, got.header = res.StatusCode, res.Header
	}
	if told := (*url.Error)(nil); errors.As(err, &told) {
		err = told.Err // codex, and the log, have the host of the endpoint, and no more of its URL
	}
	return conn, got, err
}

// refused answers codex for an endpoint from which there is no WebSocket.
func (f *Forwarder) refused(w http.ResponseWriter, r *http.Request, got handshake, err error) {
	to := destinationOf(r)
	switch {
	case r.Context().Err() != nil: // codex has gone, or we do
		panic(http.ErrAbortHandler)
	case !got.reached:
		f.failed(w, r, err)
		return
	case hasTrouble(got.status) && to.sockets.troubled():
		f.log.Warn("the model's endpoint takes no WebSocket at the moment", "host", to.url.Host, "status", got.status)
		refuse(w, http.StatusBadGateway, "the model's endpoint "+to.url.Host+" takes no WebSocket at the moment")
		return
	}
	rest := to.sockets.refused(got.status)
	f.log.Info("the model's endpoint is asked over HTTP: it takes no WebSocket", "host", to.url.Host, "status", got.status, "again_after", rest)
	askOverHTTP(w)
}

// askOverHTTP has codex ask over HTTP.
func askOverHTTP(w http.ResponseWriter) {
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
