package console

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"
)

const (
	mostForm    = 8 << 10          // the largest form that is read
	formTimeout = 10 * time.Second // within which it has to be there
)

// login begins a session for whoever gives the token.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if c.cfg.Token == "" {
		http.Redirect(w, r, "/console", http.StatusSeeOther)
		return
	}
	if r.Body != http.NoBody { // without one, net/http watches the connection, and a deadline would cut it
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(c.cfg.FormTimeout)) // lifted when it is read; recorders have none
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		c.pages.show(w, http.StatusBadRequest, pageLogin, c.about("The form could not be read. Try again."))
		return
	}
	given := sha256.Sum256([]byte(r.PostForm.Get("token")))
	if subtle.ConstantTimeCompare(given[:], c.token[:]) == 1 {
		c.admit(w, r) // guesses do not keep him out; who guesses that fast at / is told as much
		return
	}
	if !c.tries.enter() {
		w.Header().Set("Retry-After", "5")
		c.pages.show(w, http.StatusTooManyRequests, pageLogin, c.about("Too many attempts at the same time. Try again in a few seconds."))
		return
	}
	defer c.tries.leave()
	if !c.tries.take(r.Context()) {
		return
	}
	if n, ok := c.tries.wrong(); ok {
		c.log.Warn("somebody tried to log in to the console with a wrong token", "remote", r.RemoteAddr, "times", n)
	}
	c.pages.show(w, http.StatusUnauthorized, pageLogin, c.about("That is not the token. It is the value of RUNTIME_TOKEN that the runtime was started with."))
}

func (c *Console) admit(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, cookie(r, c.sessions.begin()))
	http.Redirect(w, r, "/console", http.StatusSeeOther)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	c.sessions.end(shown(r))
	http.SetCookie(w, cookie(r, ""))
	http.Redirect(w, r, "/console", http.StatusSeeOther)
}

const (
	mostTries = 8                      // attempts at the same time
	tryLasts  = 300 * time.Millisecond // for which a wrong one keeps the others waiting
	wrongSaid = time.Minute            // between two words of wrong ones in the log
)

// tries makes guessing slow: wrong attempts go through one by one, and each takes its
// time. Who knows the token waits for none of them.
type tries struct {
	room chan struct{}
	lane chan struct{}

	mu    sync.Mutex // guards the fields below
	count int        // wrong ones since the log spoke of them
	said  time.Time
}

func newTries() *tries {
	return &tries{room: make(chan struct{}, mostTries), lane: make(chan struct{}, 1)}
}

// enter reports whether there is room for one more attempt; then leave must follow.
func (t *tries) enter() bool {
	select {
	case t.room <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t *tries) leave() { <-t.room }

// take waits for the attempt's turn, and takes it. It reports false if ctx ended first:
// whoever has gone is told nothing.
func (t *tries) take(ctx context.Context) bool {
	select {
	case t.lane <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-t.lane }()
	timer := time.NewTimer(tryLasts) // also if he leaves: that would be the faster way to guess
	defer timer.Stop()
	<-timer.C
	return ctx.Err() == nil
}

// wrong counts a wrong attempt, and reports whether the log is to speak of them: of how
// many.
func (t *tries) wrong() (n int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	if !t.said.IsZero() && time.Since(t.said) < wrongSaid {
		return 0, false
	}
	n, t.count, t.said = t.count, 0, time.Now()
	return n, true
}
