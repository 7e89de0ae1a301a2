package server

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// observe gives the request its id and its deadlines, and logs and counts it
// when it has ended. No body and no header is logged.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		id := callerID(r.Header.Get("X-Request-Id"))
		w.Header().Set("X-Request-Id", id)
		ctx := respond.WithRequestID(r.Context(), id)
		r = r.WithContext(ctx)
		dw := bounds.Deadlines(w, r, begin.Add(s.cfg.BodyTimeout), s.cfg.WriteTimeout)
		defer dw.Release()
		next.ServeHTTP(dw, r)

		route := "unmatched"
		if rctx := chi.RouteContext(ctx); rctx != nil && rctx.RoutePattern() != "" {
			route = rctx.RoutePattern()
		}
		took := time.Since(begin)
		s.metrics.request(route, r.Method, dw.Status(), took)
		level := slog.LevelDebug
		if dw.Status() >= http.StatusInternalServerError && route != "/readyz" { // of that see readyLog
			level = slog.LevelInfo
		}
		s.log.LogAttrs(ctx, level, "request", slog.String("request_id", id),
			slog.String("method", r.Method), slog.String("route", route), slog.Int("status", dw.Status()),
			slog.Int64("bytes", dw.Size()), slog.Duration("took", took), slog.String("remote", r.RemoteAddr))
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

// recoverPanics is the last barrier: [guard.Guard] has one of its own in front of the
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
			s.log.ErrorContext(r.Context(), "request handler panicked", slog.String("request_id", respond.RequestID(r.Context())),
				slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			if bounds.Begun(w) {
				panic(http.ErrAbortHandler) // the answer has begun: only closing the connection is honest
			}
			if respond.AtJSONRPC(r.URL.Path) && r.Method == http.MethodPost {
				s.bindings.FailUnread(w, respond.InternalError(r.Context()))
				return
			}
			respond.Fail(w, r, http.StatusInternalServerError, "internal error")
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

// plainPath brings paths into their plain form.
func plainPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.URL.EscapedPath()
		if plain := respond.Plain(given); plain != given || r.URL.RawPath != "" {
			u := *r.URL
			if path, err := url.PathUnescape(plain); err == nil {
				u.Path = path
			}
			if u.RawPath = ""; u.EscapedPath() != plain {
				u.RawPath = plain // there is a slash in a name
			}
			r2 := *r
			r2.URL = &u
			r = &r2
		}
		next.ServeHTTP(w, r)
	})
}
