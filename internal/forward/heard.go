package forward

import (
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

// A heard body is recorded.
type heard struct {
	io.ReadCloser
	call   *recorder
	status int
}

// Read implements [io.Reader].
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.call.keep(p[:n])
	if errors.Is(err, io.EOF) {
		h.call.end(h.status)
	}
	return n, err
}
