package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	sessionLasts = 12 * time.Hour
	mostSessions = 64 // beyond that the oldest ends
)

// sessions are the logins that count.
type sessions struct {
	mu   sync.Mutex // guards open
	open map[[sha256.Size]byte]session
}

// A session is one login. What it carries ends with it.
type session struct {
	ctx   context.Context
	end   context.CancelFunc
	began time.Time
}

// begin makes a session and returns what its owner shows.
func (s *sessions) begin() string {
	value := rand.Text()
	now := time.Now()
	ctx, end := context.WithDeadline(context.Background(), now.Add(sessionLasts))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]session{}
	}
	s.makeRoom()
	s.open[sha256.Sum256([]byte(value))] = session{ctx, end, now}
	return value
}

// makeRoom lets go of what has ended, and of the oldest if there is still no room. The
// caller holds s.mu.
func (s *sessions) makeRoom() {
	var oldest [sha256.Size]byte
	var since time.Time
	for key, open := range s.open {
		if open.ctx.Err() != nil {
			delete(s.open, key)
		} else if since.IsZero() || open.began.Before(since) {
			oldest, since = key, open.began
		}
	}
	if len(s.open) >= mostSessions {
		s.open[oldest].end()
		delete(s.open, oldest)
	}
}

// find returns the session of whoever shows value; false if it is none, or over.
func (s *sessions) find(value string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.open[sha256.Sum256([]byte(value))]
	return found, ok && found.ctx.Err() == nil
}

// end ends a session. One that is not there is no error.
func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(value))
	if found, ok := s.open[key]; ok {
		found.end()
		delete(s.open, key)
	}
}

// cookieName is that of the runtime that is called so: browsers keep the cookies of all
// ports of a host together, and on one machine there may be several.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "molecule_console"
	}
	return "molecule_console_" + port
}

// cookie carries a session, or takes it away if value is empty.
func cookie(r *http.Request, value string) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // Secure where it can be: on loopback there is no TLS
		Name: cookieName(r), Value: value, Path: "/console", MaxAge: int(sessionLasts / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// shown is the value of the session that a request shows; "" if it shows none.
func shown(r *http.Request) string {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	return c.Value
}
