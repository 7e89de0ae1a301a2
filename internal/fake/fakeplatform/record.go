package fakeplatform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
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

// Requests are those so far, oldest first. With a path, given as [Platform.Behave] has
// it, only those.
func (p *Platform) Requests(patterns ...string) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(patterns) == 0 {
		return slices.Clone(p.requests)
	}
	var out []Request
	for _, r := range p.requests {
		if slices.ContainsFunc(patterns, func(text string) bool { return newPattern(text).fits(r.Method, r.Path) }) {
			out = append(out, r)
		}
	}
	return out
}

// Dispatches are those that have ended, oldest first.
func (p *Platform) Dispatches() []Dispatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dispatches)
}

// Await waits until done is true of what was asked and handed on so far.
func (p *Platform) Await(ctx context.Context, done func() bool) error {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
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

// tell wakes whoever waits. The lock is held.
func (p *Platform) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

const mostRecorded = 1 << 20

// ServeHTTP implements [http.Handler].
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := Request{
		At: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(),
	}
	var body bytes.Buffer
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, &limited{&body, mostRecorded}), r.Body}
	watched := &watcher{ResponseWriter: w}
	defer func() {
		failed := recover() // a cut connection is a panic
		record.Body, record.Status = body.Bytes(), watched.status
		p.locked(func() {
			p.requests = append(p.requests, record)
			p.tell()
		})
		if failed != nil {
			panic(failed)
		}
	}()
	p.serve(watched, r)
}

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
