package forward

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

const (
	// freshTime is how long a connection is taken to be there after it was last used.
	freshTime = 20 * time.Second
	// spareTime is how long a connection is kept that nothing has been sent on: an endpoint waits
	// for no longer.
	spareTime = time.Minute
	warmTime  = 10 * time.Second
)

// Warm has a connection to the endpoint made that the next request will find, unless one was used
// just now. It is for when a turn is about to begin, returns at once, and may be called at any time.
func (f *Forwarder) Warm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(time.Unix(0, f.lastUse.Load())) >= freshTime {
		f.warmLocked()
	}
}

func (f *Forwarder) warmLocked() {
	to := f.to
	if to.url == nil {
		return
	}
	f.noteUse()
	f.warming.Go(func() {
		ctx, cancel := context.WithTimeout(f.ctx, warmTime)
		defer cancel()
		err := f.open(ctx, to)
		if err != nil {
			f.log.Debug("no connection to the model's endpoint could be made ahead", "host", to.url.Host, "err", to.secret.error(err))
		}
	})
}

// noteUse notes that a connection is used, so that none has to be made ahead.
func (f *Forwarder) noteUse() { f.lastUse.Store(time.Now().UnixNano()) }

// open opens a connection of the kind that codex will ask by.
func (f *Forwarder) open(ctx context.Context, to destination) error {
	if !to.sockets.declines() {
		return f.spare.make(ctx, to.url)
	}
	// A transport takes a connection into its pool only behind a request: this one asks for nothing,
	// and shows no key.
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, origin(to.url)+"/", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "molecule-codex-runtime")
	res, err := stayhttp.Transport{Via: f.transport}.RoundTrip(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// A spare is a connection that was made before it was needed, for a WebSocket.
type spare struct {
	transport *http.Transport // of HTTP/1.1, which a WebSocket begins with

	mu   sync.Mutex       // guards the fields below
	conn *http.ClientConn // nil if there is none
	to   string           // its origin, or of the one that is made
	made chan struct{}    // is closed when it has been, or could not be; nil if none is
	ends *time.Timer
}

// make makes one, in the place of the one before, unless one is being made.
func (s *spare) make(ctx context.Context, to *url.URL) error {
	made := make(chan struct{})
	if !s.begin(origin(to), made) {
		return nil
	}
	defer close(made)
	port := to.Port()
	if port == "" { // a proxy takes no name of a service
		port = map[string]string{"http": "80", "https": "443"}[to.Scheme]
	}
	conn, err := s.transport.NewClientConn(context.WithValue(ctx, aheadKey{}, to), to.Scheme, net.JoinHostPort(to.Hostname(), port))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = nil
	if err == nil {
		s.conn, s.ends = conn, time.AfterFunc(spareTime, s.drop)
	}
	return err
}

func (s *spare) begin(to string, made chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made != nil {
		return false
	}
	s.dropLocked()
	s.to, s.made = to, made
	return true
}

// take returns the connection to an origin, if there is one that has not been closed. One that is being
// made is waited for: another would take as long.
func (s *spare) take(ctx context.Context, to string) *http.ClientConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made := s.made; made != nil && s.to == to {
		s.mu.Unlock()
		select {
		case <-made:
		case <-ctx.Done():
		}
		s.mu.Lock()
	}
	if s.conn == nil || s.to != to {
		return nil
	}
	conn := s.conn
	s.conn = nil
	s.ends.Stop()
	if conn.Err() != nil {
		return nil
	}
	return conn
}

// drop closes the connection, if there is one.
func (s *spare) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked()
}

func (s *spare) dropLocked() {
	if s.conn != nil {
		s.ends.Stop()
		_ = s.conn.Close()
		s.conn = nil
	}
}

// RoundTrip implements [http.RoundTripper] for upgrades: they have no body, so one that a spare
// connection has lost is sent again.
func (s *spare) RoundTrip(r *http.Request) (*http.Response, error) {
	if conn := s.take(r.Context(), origin(r.URL)); conn != nil {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{Reused: true})
		}
		res, err := conn.RoundTrip(r)
		if err == nil {
			if res.StatusCode != http.StatusSwitchingProtocols {
				res.Body = alone{res.Body, conn}
			}
			return whole(res), nil
		}
		if r.Context().Err() != nil {
			return nil, err
		}
	}
	res, err := s.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return whole(res), nil
}

// An alone body is of a connection that is in no pool, and ends with it.
type alone struct {
	io.ReadCloser
	conn *http.ClientConn
}

// Close implements [io.Closer].
func (a alone) Close() error { return errors.Join(a.ReadCloser.Close(), a.conn.Close()) }

// close closes what is held.
func (s *spare) close() {
	s.drop()
	s.transport.CloseIdleConnections()
}
