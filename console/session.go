package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
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

// A session is one login. What it carries ends with it. It has two halves, and takes
// both: the browser sends the cookie to every port of the host, whose servers can read
// it, and the key is known only to pages of the console's own origin, whose scripts
// cannot read the cookie.
type session struct {
	key   [sha256.Size]byte // a digest
	ctx   context.Context
	end   context.CancelFunc
	began time.Time
}

// begin makes a session and returns what its owner shows: the cookie's value and the key.
func (s *sessions) begin() (value, key string) {
	value, key = rand.Text(), rand.Text()
	now := time.Now()
	ctx, end := context.WithDeadline(context.Background(), now.Add(sessionLasts))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]session{}
	}
	s.makeRoomLocked()
	s.open[sha256.Sum256([]byte(value))] = session{sha256.Sum256([]byte(key)), ctx, end, now}
	return value, key
}

// makeRoomLocked lets go of what has ended, and of the oldest if there is still no room.
func (s *sessions) makeRoomLocked() {
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

// find returns the session that one of values and key are the halves of; false if there
// is none, or it is over.
func (s *sessions) find(values []string, key string) (session, bool) {
	digest := sha256.Sum256([]byte(key))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		found, ok := s.open[sha256.Sum256([]byte(value))]
		if ok && found.ctx.Err() == nil && subtle.ConstantTimeCompare(digest[:], found.key[:]) == 1 {
			return found, true
		}
	}
	return session{}, false
}

// has reports whether one of values is a session's, which opens nothing without the key.
func (s *sessions) has(values []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(values, func(value string) bool {
		found, ok := s.open[sha256.Sum256([]byte(value))]
		return ok && found.ctx.Err() == nil
	})
}

// end ends the sessions of values. One that is not there is no error. It takes no key:
// another port of the host can take the cookie away from the browser in any case.
func (s *sessions) end(values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		digest := sha256.Sum256([]byte(value))
		if found, ok := s.open[digest]; ok {
			found.end()
			delete(s.open, digest)
		}
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

// cookie carries its half of a session, or takes it away if value is empty.
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

// shown are the values of the cookies of that name. There may be several: another port
// of the host can set one for a longer path, which browsers send first.
func shown(r *http.Request) []string {
	cookies := r.CookiesNamed(cookieName(r))
	values := make([]string, len(cookies))
	for i, c := range cookies {
		values[i] = c.Value
	}
	return values
}
