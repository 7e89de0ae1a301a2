package forward

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

type callKey struct{}

// over is a context in which a request over HTTP is recorded.
func (r *recorder) over(ctx context.Context) context.Context {
	began := time.Now()
	return httptrace.WithClientTrace(context.WithValue(ctx, callKey{}, r), &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			if !got.Reused {
				r.connected(time.Since(began))
			}
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { r.sent() },
		GotFirstResponseByte: r.first,
	})
}

// hear has the call that an answer is to, if it is recorded, end with its body.
func hear(res *http.Response) {
	if r, ok := res.Request.Context().Value(callKey{}).(*recorder); ok {
		res.Body = &heard{ReadCloser: res.Body, call: r, status: res.StatusCode}
	}
}

// A heard body is recorded. The answer ends with its last event: codex reads no further, and may have
// gone before the endpoint has closed.
type heard struct {
	io.ReadCloser
	call   *recorder
	status int
	edge   []byte // what came last, in which a name may have begun
	last   bool   // the last event has begun
}

// Read implements [io.Reader].
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.call.keep(p[:n])
	h.last = h.last || h.begins(p[:n])
	if errors.Is(err, io.EOF) || h.last && h.call.rests() {
		h.call.end(h.status)
	}
	return n, err
}

// begins reports whether the last event has begun.
func (h *heard) begins(piece []byte) bool {
	const longest = len(`"response.incomplete"`)
	h.edge = append(h.edge, piece[:min(len(piece), longest)]...)
	if namesLast(h.edge) || namesLast(piece) {
		return true
	}
	if len(piece) > longest {
		h.edge = append(h.edge[:0], piece[len(piece)-longest:]...)
		return false
	}
	h.edge = append(h.edge[:0], h.edge[max(0, len(h.edge)-longest):]...)
	return false
}

// namesLast reports whether a text names the event with which answers end. What a model has written has no such quotes.
func namesLast(text []byte) bool {
	for {
		_, rest, ok := bytes.Cut(text, []byte(`"response.`))
		if !ok {
			return false
		}
		for _, kind := range [...]string{`completed"`, `incomplete"`, `failed"`} {
			if bytes.HasPrefix(rest, []byte(kind)) {
				return true
			}
		}
		text = rest
	}
}
