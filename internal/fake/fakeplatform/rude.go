package fakeplatform

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Rudeness is a way to treat a request.
type Rudeness struct {
	times int // 0 is for ever
	serve func(p *Platform, w http.ResponseWriter, r *http.Request, honest http.Handler)
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
	return Rudeness{serve: func(_ *Platform, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}}
}

// TooMany answers 429 and asks to wait.
func TooMany(wait time.Duration) Rudeness {
	return Rudeness{serve: func(_ *Platform, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		refuse(w, http.StatusTooManyRequests, "rate limit exceeded")
	}}
}

// HTML404 is what stands in front of the platform, and has not let the request through.
func HTML404() Rudeness {
	return Rudeness{serve: func(_ *Platform, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>404</title></head><body>This page could not be found.</body></html>")
	}}
}

// Slow does what it is asked after a while, unless the caller has gone by then.
func Slow(d time.Duration) Rudeness {
	return Rudeness{serve: func(p *Platform, w http.ResponseWriter, r *http.Request, honest http.Handler) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			honest.ServeHTTP(w, r)
		case <-r.Context().Done():
		case <-p.ctx.Done():
		}
	}}
}

// Hang answers nothing while the caller waits.
func Hang() Rudeness { return Slow(1 << 40) }

// Cut does what it is asked, and cuts its answer off after n bytes.
func Cut(n int) Rudeness {
	return Rudeness{serve: func(_ *Platform, w http.ResponseWriter, r *http.Request, honest http.Handler) {
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
	return Rudeness{serve: func(_ *Platform, _ http.ResponseWriter, r *http.Request, honest http.Handler) {
		honest.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}}
}

// Then does what it is asked, and calls f before it says so.
func Then(f func()) Rudeness {
	return Rudeness{serve: func(_ *Platform, w http.ResponseWriter, r *http.Request, honest http.Handler) {
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
	return Rudeness{serve: func(_ *Platform, w http.ResponseWriter, r *http.Request, _ http.Handler) { serve(w, r) }}
}

// A rule is a rudeness for some requests.
type rule struct {
	pattern
	how  Rudeness
	left int // -1 is for ever
}

// Behave treats requests in a way of its own until undo is called. The pattern is a
// method and a path, "POST /registry/heartbeat", or a path for all methods; a * in the
// path stands for anything. Of several, the newest goes first.
func (p *Platform) Behave(pattern string, how Rudeness) (undo func()) {
	r := &rule{pattern: newPattern(pattern), how: how, left: -1}
	if how.times > 0 {
		r.left = how.times
	}
	p.locked(func() { p.rules = append([]*rule{r}, p.rules...) })
	return func() { p.locked(func() { r.left = 0 }) }
}

// Outage takes the double off the network, or back: connections end without an answer.
func (p *Platform) Outage(on bool) { p.locked(func() { p.outage = on }) }

// Kill is an outage that comes in the middle of things: whoever waits for an answer
// does not learn whether what it asked for was done. Outage(false) ends it: what the
// platform has is in its database, and still there. The double must have been started
// with [Start].
func (p *Platform) Kill() {
	p.Outage(true)
	p.hangUp()
}

func (p *Platform) serve(w http.ResponseWriter, r *http.Request) {
	if how := p.rudeness(r); how != nil {
		how.serve(p, w, r, p.mux)
		return
	}
	p.mux.ServeHTTP(w, r)
}

func (p *Platform) rudeness(r *http.Request) *Rudeness {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage {
		return &Rudeness{serve: func(*Platform, http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }}
	}
	for _, rule := range p.rules {
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

type pattern struct {
	method string
	path   *regexp.Regexp
}

func newPattern(text string) pattern {
	method, path, both := strings.Cut(text, " ")
	if !both {
		method, path = "", text
	}
	return pattern{method, regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(path), `\*`, ".*") + "$")}
}

func (p pattern) fits(method, path string) bool {
	return (p.method == "" || p.method == method) && p.path.MatchString(path)
}

func drain(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
