package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
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
	given := r.PostForm.Get("token")
	if given != "" && c.cfg.Refusals.Closed(r.RemoteAddr) {
		c.tooMany(w)
		return
	}
	digest := sha256.Sum256([]byte(given))
	switch {
	case subtle.ConstantTimeCompare(digest[:], c.token[:]) == 1: // no guess keeps it waiting
		c.admit(w, r)
	case c.cfg.Refusals.Wrong(r.Context(), r.RemoteAddr, "console"):
		c.pages.show(w, http.StatusUnauthorized, pageLogin, c.about("That is not the token. It is the value of RUNTIME_TOKEN that the runtime was started with."))
	default:
		c.tooMany(w)
	}
}

// tooMany turns a visitor away. The connection goes with it: what comes next on it would
// be one more.
func (c *Console) tooMany(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", strconv.Itoa(refusals.RetryAfter))
	c.pages.show(w, http.StatusTooManyRequests, pageLogin, c.about("Too many attempts at the same time. Try again in a few seconds."))
}

// admit begins a session in place of the one that the browser had. The key is in this
// answer's body and nowhere else: no page of another origin can read that, and a URL
// would be kept by the browser.
func (c *Console) admit(w http.ResponseWriter, r *http.Request) {
	c.sessions.end(shown(r))
	value, key := c.sessions.begin()
	http.SetCookie(w, cookie(r, value))
	with := c.about("")
	with.Key = key
	c.pages.show(w, http.StatusOK, pageAdmitted, with)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	c.sessions.end(shown(r))
	http.SetCookie(w, cookie(r, ""))
	http.Redirect(w, r, "/console", http.StatusSeeOther)
}
