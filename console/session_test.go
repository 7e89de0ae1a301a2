package console_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
)

// lets is the status of a look at the state with what is shown of a session.
func (f *fixture) lets(shows session) int {
	return f.do(with(request(http.MethodGet, "/console/api/state", ""), shows)).Code
}

// TestHalfASession: the cookie, which a server on another port of the host is sent, opens
// nothing without the key, and the key nothing without the cookie.
func TestHalfASession(t *testing.T) {
	f := open(t, withToken)
	mine, other := f.loggedIn(t), f.loggedIn(t)
	for name, shows := range map[string]session{
		"the cookie alone":            {cookie: mine.cookie},
		"the key alone":               {key: mine.key},
		"the key of another session":  {mine.cookie, other.key},
		"the cookie as the key":       {mine.cookie, mine.cookie.Value},
		"the token as the key":        {mine.cookie, token},
		"a key cut":                   {mine.cookie, mine.key[1:]},
		"a key in lower case":         {mine.cookie, strings.ToLower(mine.key)},
		"what scripts sent before it": {mine.cookie, "1"},
	} {
		for _, r := range []*http.Request{
			request(http.MethodGet, "/console/api/state", ""), request(http.MethodGet, "/console/api/events", ""),
			request(http.MethodPost, "/console/api/a2a", "{}"), request(http.MethodPost, "/console/api/doctor", ""),
		} {
			ctx, leave := context.WithTimeout(t.Context(), time.Second) // a stream that opens has no end
			w := f.do(with(r.WithContext(ctx), shows))
			leave()
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s: %s %s = %d, want 401", name, r.Method, r.URL.Path, w.Code)
			}
		}
	}
	byURL := request(http.MethodGet, "/console/api/state?X-Console-Key="+mine.key+"&key="+mine.key, "")
	if w := f.do(with(byURL, session{cookie: mine.cookie})); w.Code != http.StatusUnauthorized {
		t.Errorf("the key in the URL = %d, want 401: it stands in logs", w.Code)
	}
	if f.asked != 0 {
		t.Errorf("the agent was called %d times", f.asked)
	}
	if status := f.lets(mine); status != http.StatusOK {
		t.Errorf("both halves = %d, want 200", status)
	}
}

// TestKeyComesOnce: the key is in the answer to the login, and in nothing else that the
// runtime says, to the cookie or to a log.
func TestKeyComesOnce(t *testing.T) {
	var log bytes.Buffer
	f := open(t, func(cfg *console.Config) {
		cfg.Token, cfg.Logger = token, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	answer := f.do(form("/console/login", token))
	mine := admitted(t, answer)
	if mine.key == mine.cookie.Value || strings.Contains(answer.Body.String(), mine.cookie.Value) {
		t.Error("the key is the cookie, or stands beside it")
	}
	for name, values := range answer.Result().Header {
		if strings.Contains(strings.Join(values, " "), mine.key) {
			t.Errorf("the header %s has the key in it", name)
		}
	}
	if answer.Header().Get("Cache-Control") != "no-store" {
		t.Error("the key may be kept by a cache")
	}
	for _, r := range []*http.Request{
		request(http.MethodGet, "/console", ""), request(http.MethodGet, "/console/api/state", ""),
		form("/console/login", "wrong"),
	} {
		if w := f.do(with(r, mine)); strings.Contains(w.Body.String(), mine.key) {
			t.Errorf("%s %s says the key", r.Method, r.URL.Path)
		}
	}
	if strings.Contains(log.String(), mine.key) || strings.Contains(log.String(), mine.cookie.Value) {
		t.Errorf("the log has the session in it: %s", &log)
	}
}

// TestLoginAnew: a login takes the place of the session that the browser had, and a wrong
// token ends none.
func TestLoginAnew(t *testing.T) {
	f := open(t, withToken)
	first := f.loggedIn(t)
	f.do(with(form("/console/login", "wrong"), session{cookie: first.cookie}))
	if status := f.lets(first); status != http.StatusOK {
		t.Errorf("after a wrong token = %d, want 200", status)
	}
	second := admitted(t, f.do(with(form("/console/login", token), session{cookie: first.cookie})))
	for name, shows := range map[string]session{"the session before": first, "its key": {second.cookie, first.key}, "its cookie": {first.cookie, second.key}} {
		if status := f.lets(shows); status != http.StatusUnauthorized {
			t.Errorf("%s = %d, want 401", name, status)
		}
	}
	if status := f.lets(second); status != http.StatusOK {
		t.Errorf("the new session = %d, want 200", status)
	}
}

// TestCookiesOfOthers: another port of the host can have the browser send a cookie of the
// same name ahead of ours. It opens nothing, and keeps nobody out.
func TestCookiesOfOthers(t *testing.T) {
	f := open(t, withToken)
	mine, others := f.loggedIn(t), f.loggedIn(t)
	for name, value := range map[string]string{"made up": "x", "of another session": others.cookie.Value} {
		planted := &http.Cookie{Name: mine.cookie.Name, Value: value}
		r := request(http.MethodGet, "/console/api/state", "")
		r.AddCookie(planted)
		if w := f.do(with(r, mine)); w.Code != http.StatusOK {
			t.Errorf("behind a cookie %s = %d, want 200", name, w.Code)
		}
		if status := f.lets(session{planted, mine.key}); status != http.StatusUnauthorized {
			t.Errorf("with nothing but a cookie %s = %d, want 401", name, status)
		}
	}
	out := form("/console/logout", "")
	out.AddCookie(&http.Cookie{Name: mine.cookie.Name, Value: "x"})
	f.do(with(out, mine))
	if status := f.lets(mine); status != http.StatusUnauthorized {
		t.Errorf("after a logout behind a made-up cookie = %d, want 401", status)
	}
}
