package fakeplatform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A Request is what the double was asked, and what it said.
type Request struct {
	At     time.Time
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte // of an upload, the first MiB
	Status int    // 0 if the connection was cut
}

// Into decodes the body.
func (r Request) Into(out any) error { return json.Unmarshal(r.Body, out) }

// A Dispatch is what the double has handed to a workspace, and what that said.
type Dispatch struct {
	Workspace string
	URL       string
	Header    http.Header
	Body      []byte
	Status    int    // 0 if there was no answer
	Answer    []byte //
	Err       error
}

// A record has what the double was asked and has handed on, and tells of every change.
type record struct {
	mu         sync.Mutex // guards the fields below
	requests   []Request
	dispatches []Dispatch
	changed    chan struct{} // closed, and made anew, with each change of what the platform knows
}

// Requests are those so far, oldest first. With a path, given as [Platform.Behave] has
// it, only those.
func (r *record) Requests(patterns ...string) []Request {
	all := make([]pattern, 0, len(patterns)) // tests ask for them every few milliseconds
	for _, text := range patterns {
		all = append(all, newPattern(text))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(all) == 0 {
		return slices.Clone(r.requests)
	}
	var out []Request
	for _, one := range r.requests {
		if slices.ContainsFunc(all, func(p pattern) bool { return p.fits(one.Method, one.Path) }) {
			out = append(out, one)
		}
	}
	return out
}

// Dispatches are those that have ended, oldest first.
func (r *record) Dispatches() []Dispatch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.dispatches)
}

// Await waits until done is true of what was asked and handed on so far.
func (r *record) Await(ctx context.Context, done func() bool) error {
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the platform's state: %w", context.Cause(ctx))
		}
	}
}

// received takes down a request.
func (r *record) received(one Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, one)
	r.tellLocked()
}

// handedOn takes down a dispatch.
func (r *record) handedOn(one Dispatch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dispatches = append(r.dispatches, one)
	r.tellLocked()
}

// tell ends the waiting in Await, for another look.
func (r *record) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tellLocked()
}

func (r *record) tellLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

const mostRecorded = 1 << 20

// A watcher sees the status of an answer.
type watcher struct {
	http.ResponseWriter
	status int
}

func (w *watcher) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watcher) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *watcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// limited takes the first bytes and says that it took all.
type limited struct {
	to   *bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.most - l.to.Len(); room > 0 {
		l.to.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
