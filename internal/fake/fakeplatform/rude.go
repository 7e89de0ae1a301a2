package fakeplatform

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Rudeness is a way to treat a request.
type Rudeness struct {
	times int // 0 is for ever
	serve func(done <-chan struct{}, w http.ResponseWriter, r *http.Request, honest http.Handler)
}

// Times makes it happen n times only.
func (r Rudeness) Times(n int) Rudeness {
	r.times = n
	return r
}

// Refuse answers with a status, and with a body if one is given; nothing is done.
func Refuse(status int, body ...string) Rudeness {
	text := strings.Join(body, "")
	if text == "" {
		text = `{"error":"` + strings.ToLower(http.StatusText(status)) + `"}`
	}
	return Rudeness{serve: func(_ <-chan struct{}, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}}
}

// TooMany answers 429 and asks to wait.
func TooMany(wait time.Duration) Rudeness {
	return Rudeness{serve: func(_ <-chan struct{}, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		refuse(w, http.StatusTooManyRequests, "rate limit exceeded")
	}}
}

// HTML404 is what stands in front of the platform, and has not let the request through.
func HTML404() Rudeness {
	return Rudeness{serve: func(_ <-chan struct{}, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>404</title></head><body>This page could not be found.</body></html>")
	}}
}

// Slow does what it is asked after a while, unless the caller has gone by then.
func Slow(d time.Duration) Rudeness {
	return Rudeness{serve: func(done <-chan struct{}, w http.ResponseWriter, r *http.Request, honest http.Handler) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			honest.ServeHTTP(w, r)
		case <-r.Context().Done():
		case <-done:
		}
	}}
}

// Hang answers nothing while the caller waits.
func Hang() Rudeness { return Slow(1 << 40) }

// Cut does what it is asked, and cuts its answer off after n bytes.
func Cut(n int) Rudeness {
	return Rudeness{serve: func(_ <-chan struct{}, w http.ResponseWriter, r *http.Request, honest http.Handler) {
		whole := httptest.NewRecorder()
		honest.ServeHTTP(whole, r)
		body := whole.Body.Bytes()
		maps.Copy(w.Header(), whole.Header())
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(body[:min(n, len(body))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}}
}

// Lose does what it is asked, and closes the connection without an answer.
func Lose() Rudeness {
	return Rudeness{serve: func(_ <-chan struct{}, _ http.ResponseWriter, r *http.Request, honest http.Handler) {
		honest.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}}
}

// Then does what it is asked, and calls f before it says so.
func Then(f func()) Rudeness {
	return Rudeness{serve: func(_ <-chan struct{}, w http.ResponseWriter, r *http.Request, honest http.Handler) {
		whole := httptest.NewRecorder()
		honest.ServeHTTP(whole, r)
		f()
		maps.Copy(w.Header(), whole.Header())
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes())
	}}
}

// Answer does not do what it is asked, and answers what serve says.
func Answer(serve http.HandlerFunc) Rudeness {
	return Rudeness{serve: func(_ <-chan struct{}, w http.ResponseWriter, r *http.Request, _ http.Handler) { serve(w, r) }}
}

// A rule is a rudeness for some requests.
type rule struct {
	pattern
	how  Rudeness
	left int // -1 is for ever
}

// The manners are how the double treats requests, apart from what they ask.
type manners struct {
	ruling  sync.Mutex // guards the fields below; no other lock is taken under it
	rules   []*rule    // the newest first
	outage  bool
	repeats int
}

// Behave treats requests in a way of its own until undo is called. The pattern is a
// method and a path, "POST /registry/heartbeat", or a path for all methods; a * in the
// path stands for anything. Of several, the newest goes first.
func (m *manners) Behave(pattern string, how Rudeness) (undo func()) {
	r := &rule{pattern: newPattern(pattern), how: how, left: -1}
	if how.times > 0 {
		r.left = how.times
	}
	m.ruled(func() { m.rules = append([]*rule{r}, m.rules...) })
	return func() { m.ruled(func() { r.left = 0 }) }
}

// Outage takes the double off the network, or back: connections end without an answer.
func (m *manners) Outage(on bool) { m.ruled(func() { m.outage = on }) }

// RepeatDispatch has each of the next n messages handed on twice, the second time when
// the first has been answered: as after a connection that ended with the answer on its
// way. The second answer is the one that counts.
func (m *manners) RepeatDispatch(n int) { m.ruled(func() { m.repeats = n }) }

// repeated reports whether a message is to be handed on again.
func (m *manners) repeated() (again bool) {
	m.ruled(func() {
		if again = m.repeats > 0; again {
			m.repeats--
		}
	})
	return again
}

func (m *manners) ruled(change func()) {
	m.ruling.Lock()
	defer m.ruling.Unlock()
	change()
}

// rudeness is how the request is treated, nil for as it asks.
func (m *manners) rudeness(r *http.Request) *Rudeness {
	m.ruling.Lock()
	defer m.ruling.Unlock()
	if m.outage {
		return &Rudeness{serve: func(<-chan struct{}, http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }}
	}
	for _, rule := range m.rules {
		if rule.left == 0 || !rule.fits(r.Method, r.URL.Path) {
			continue
		}
		if rule.left > 0 {
			rule.left--
		}
		return &rule.how
	}
	return nil
}

func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
