package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A repetition says when a request that has failed may be sent again.
type repetition int

const (
	// careful requests are sent again only if the platform cannot have acted:
	// it was not reached, or says so.
	careful repetition = iota
	// harmless requests do nothing more when they come twice.
	harmless
	// once is for those whose caller has a rhythm of its own.
	once
)

// A request is what one method of the client sends.
type request struct {
	op      string // for errors, and for who observes: one of a few
	method  string
	path    string
	query   url.Values
	body    any // sent as JSON, unless nil
	out     any // what the answer is decoded into, unless nil
	repeats repetition
	feature feature       // what is unsupported if the platform has no such path
	most    int64         // bytes of an answer that are read, 0 for [mostAnswer]
	limit   time.Duration // of each attempt, 0 for [requestTimeout]
	piece   time.Duration // and of each piece of its answer, 0 if these have none of their own
	alone   *[]string     // one row is wanted, however large: set to what was left out of it

	upload *multipartBody // sent in place of body
	hidden bool           // goes out without the token, though there is one
	public bool           // goes out without a token if there is none
	plain  bool           // a refused token is not renewed for it
	loose  bool           // the token is that of another's path: a 401 says nothing about it
	raw    func(*http.Response) error
	date   *time.Time  // set to the platform's time, if it says that
	dated  *time.Time  // and to ours then
	header http.Header // that the observer wants to be sent
}

// call does what the request says: the token, the second try after a 401, the
// retries, and what is remembered.
func (c *Client) call(ctx context.Context, r request) (err error) {
	if leadsElsewhere(r.path) {
		return fmt.Errorf("%s: an id cannot be %q or %q; nothing was sent", r.op, ".", "..")
	}
	if err := c.features.check(r); err != nil {
		return err
	}
	if c.cfg.Observe != nil {
		header, ended := c.cfg.Observe(ctx, r.op)
		r.header = header
		defer func() { ended(err) }()
	}
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return fmt.Errorf("%s: %w", r.op, err)
		}
	}
	if ctx.Value(onceKey{}) != nil {
		r.repeats = once
	}
	err = c.retry(ctx, r.repeats, func() error { return c.authorized(ctx, r, body) })
	return c.features.learn(r, err)
}

// send sends the request once, with the token.
func (c *Client) send(ctx context.Context, r request, body []byte, token string) error {
	if err := turn(ctx, r.op); err != nil {
		return err
	}
	ctx, pace, done := r.paced(ctx)
	defer done()
	reached := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached = true }})
	req, err := c.request(ctx, r, body, token)
	if err != nil {
		return fmt.Errorf("%s: %w", r.op, err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.unanswered(ctx, r.op, err, reached)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		answer, _ := io.ReadAll(io.LimitReader(res.Body, mostRefusal))
		return refusal(r.op, res, answer, c.secrets(token))
	}
	if r.date != nil {
		*r.date, _ = http.ParseTime(res.Header.Get("Date"))
		*r.dated = time.Now()
	}
	if r.raw != nil {
		return r.raw(res)
	}
	answer, leave, err := c.read(ctx, r, res, pace.of(res.Body))
	defer leave()
	if err != nil || r.out == nil {
		return err
	}
	flatten(answer)
	return decode(r.op, res, answer, r.out)
}

// decode reads an answer. What it holds may be secret, and stands in no error.
func decode(op string, res *http.Response, answer []byte, out any) error {
	if err := json.Unmarshal(answer, out); err != nil {
		if errors.Is(err, ErrTooMuch) {
			return fmt.Errorf("%s: %w", op, err)
		}
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			wrong.Value, _, _ = strings.Cut(wrong.Value, " ") // "number", without its digits
		}
		return &answerError{fmt.Errorf("%s: the platform's answer of %d bytes (%s) is not understood: %w",
			op, len(answer), headOf(res.Header.Get("Content-Type")), err)}
	}
	return nil
}

// An answerError says that the platform has done what it was asked, and has answered
// what is not understood.
type answerError struct{ cause error }

func (e *answerError) Error() string { return e.cause.Error() }
func (e *answerError) Unwrap() error { return e.cause }

// Is reports that it is [ErrNotUnderstood].
func (e *answerError) Is(fact error) bool { return fact == ErrNotUnderstood }

// isHTML reports whether an answer is a page: it is from what stands in front of the
// platform, whatever its status is.
func isHTML(header http.Header, answer []byte) bool {
	return strings.Contains(header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(answer), []byte("<"))
}

// request makes the HTTP request.
func (c *Client) request(ctx context.Context, r request, body []byte, token string) (*http.Request, error) {
	target := c.cfg.URL + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.upload != nil {
		r.upload.attach(req)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("X-Workspace-ID", c.cfg.Workspace)
	// Both are asked for by platforms of many organisations, and harmless elsewhere.
	req.Header.Set("Origin", c.origin)
	if c.cfg.Org != "" {
		req.Header.Set("X-Molecule-Org-Id", c.cfg.Org)
	}
	return req, nil
}

// A transportError says that there was no answer, or not all of it.
type transportError struct {
	op     string
	cause  error
	unsent bool // the platform was not reached
}

func (e *transportError) Error() string { return e.op + ": " + e.cause.Error() }
func (e *transportError) Unwrap() error { return e.cause }

// unanswered makes an error of a request that got no answer. The URL is left out:
// its query may hold what nobody else should read.
func (c *Client) unanswered(ctx context.Context, op string, err error, reached bool) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if !reached {
		c.http.CloseIdleConnections()
	}
	return &transportError{op: op, cause: err, unsent: !reached}
}

// own is a path below our own workspace.
func (c *Client) own(path string) string { return of(c.cfg.Workspace, path) }

// of is a path below a workspace.
func of(workspace, path string) string {
	return "/workspaces/" + url.PathEscape(workspace) + path
}

// leadsElsewhere reports whether a path has an id in it that is none: escaping leaves dots
// as they are, and what stands between us and the platform takes them for a way up.
func leadsElsewhere(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return name == "." || name == ".." })
}

// originOf is the scheme and the host of a URL.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return strings.TrimRight(raw, "/")
	}
	return u.Scheme + "://" + u.Host
}
