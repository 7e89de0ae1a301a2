package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

type ctxKey int

const (
	keyRequestID ctxKey = iota
	keyAuthenticated
	keyCall
	keyAnswering
	keyBody
)

// requestID returns the id under which the log speaks of the request.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(keyRequestID).(string)
	return id
}

// observe gives the request its id and its deadlines, and logs and counts it
// when it has ended. No body and no header is logged.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		id := callerID(r.Header.Get("X-Request-Id"))
		w.Header().Set("X-Request-Id", id)
		ctx := context.WithValue(r.Context(), keyRequestID, id)
		dw := newDeadlineWriter(w, s.cfg.WriteTimeout)
		defer dw.release()
		readBy(w, r.Body, begin.Add(s.cfg.BodyTimeout))
		r = r.WithContext(ctx)
		if r.Body != nil && r.Body != http.NoBody {
			dw.body = &watchedBody{ReadCloser: r.Body}
			r.Body = dw.body
		}

		next.ServeHTTP(dw, r)

		route := "unmatched"
		if rctx := chi.RouteContext(ctx); rctx != nil && rctx.RoutePattern() != "" {
			route = rctx.RoutePattern()
		}
		took := time.Since(begin)
		s.metrics.request(route, r.Method, dw.status, took)
		level := slog.LevelDebug
		if dw.status >= http.StatusInternalServerError && route != "/readyz" { // of that see readyLog
			level = slog.LevelInfo
		}
		s.log.LogAttrs(ctx, level, "request", slog.String("request_id", id),
			slog.String("method", r.Method), slog.String("route", route), slog.Int("status", dw.status),
			slog.Int64("bytes", dw.bytes), slog.Duration("took", took), slog.String("remote", r.RemoteAddr))
	})
}

// yielding has callers who wait for what is another agent's go before others where there is
// no room: agents have one address with the user, the platform's.
func yielding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := tasks.OnYielding(r.Context(), func() { crowd.Waits(r.Context()) })
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// callerID returns the caller's request id if it is one that can stand in a log
// as it is, else a new one.
func callerID(given string) string {
	const most = 64
	if given == "" || len(given) > most {
		return uuid.NewString()
	}
	for _, c := range given {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", c) {
			return uuid.NewString()
		}
	}
	return given
}

// inert tells browsers that an answer is what it says to be, that nothing in it is to run,
// and that no page of elsewhere may have it in itself. The console, which is a page, has a
// policy of its own.
func inert(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// recoverPanics is the last barrier: [guard] has one of its own in front of the
// handler. A panic is logged whole, and the caller gets its request id.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			s.log.ErrorContext(r.Context(), "request handler panicked", slog.String("request_id", requestID(r.Context())),
				slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			if dw, ok := w.(*deadlineWriter); ok && dw.status != 0 {
				panic(http.ErrAbortHandler) // the answer has begun: only closing the connection is honest
			}
			if atJSONRPC(r.URL.Path) && r.Method == http.MethodPost {
				s.failRPC(w, http.StatusOK, rpcCall{id: wire.Null}, internalError(r.Context()))
				return
			}
			fail(w, r, http.StatusInternalServerError, "internal error")
		}()
		next.ServeHTTP(w, r)
	})
}

// serviceHeaders brings the headers that the handler sees as service parameters
// into one form: extensions are lists under their 1.0 name, one value an entry.
// Credentials of callers stop here.
func serviceHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		var extensions []string
		for _, name := range []string{a2a.SvcParamExtensions, "X-" + a2a.SvcParamExtensions} {
			for _, line := range h.Values(name) {
				for uri := range strings.SplitSeq(line, ",") {
					if uri = strings.TrimSpace(uri); uri != "" {
						extensions = append(extensions, uri)
					}
				}
			}
			h.Del(name)
		}
		for _, uri := range extensions {
			h.Add(a2a.SvcParamExtensions, uri)
		}
		h.Del("Authorization")
		h.Del("Cookie")
		r2 := *r
		r2.Header = h
		next.ServeHTTP(w, &r2)
	})
}
