package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// A Platform is how the platform of a workspace is served. What it shows is compared
// with what stands there at that moment: it is replaced while we run.
type Platform struct {
	Secret func() string // that the platform shows; "" if there is none, and then nobody is let in
	Token  func() string // of the workspace, which readers of its transcript show; "" likewise
	// RequireAuth asks callers of A2A for the secret, too.
	RequireAuth bool
	Files       Uploads
	Version     string // of the runtime
}

// Uploads takes the platform's files in and reads those of the workspace. A
// [files.Folder] is one, and says what its methods mean.
type Uploads interface {
	Add(name, media string, content io.Reader, most int64) (files.File, error)
	Remove(stored ...files.File)
	Open(path string) (*os.File, fs.FileInfo, error)
}

// internalRoutes are for the platform alone. They are there in any case, and closed to
// all where there is no platform.
func (s *Server) internalRoutes(r chi.Router) {
	r.Use(s.requirePlatform)
	r.Post("/chat/uploads/ingest", s.ingest)
	r.Get("/file/read", s.readFile)
	r.Get("/a2a-auth-status", s.authStatus)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		// So it is for schedules, which this runtime does not keep: the platform takes
		// a 2xx of /internal/daemons/reload for the word that it does.
		writeJSON(w, http.StatusNotFound, problem{Error: "not found"})
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusMethodNotAllowed, problem{Error: "method not allowed"})
	})
}

// requirePlatform lets in whoever shows the platform's secret.
func (s *Server) requirePlatform(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.shows(w, r, "internal", func() bool { return s.isPlatform(r) }, func() { unauthorized(w) }) {
			next.ServeHTTP(w, r)
		}
	})
}

func unauthorized(w http.ResponseWriter) {
	writeJSON(w, http.StatusUnauthorized, problem{Error: "unauthorized"})
}

func (s *Server) isPlatform(r *http.Request) bool {
	return s.cfg.Platform != nil && bears(r, s.cfg.Platform.Secret())
}

// bears reports whether the request has the bearer token. Digests are compared, so that
// neither content nor length shows in the time it takes. Nothing is no token.
func bears(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer") && token != ""
}

func (s *Server) authStatus(w http.ResponseWriter, _ *http.Request) {
	p := s.cfg.Platform
	present := p.Secret() != ""
	writeJSON(w, http.StatusOK, struct {
		RequireAuth    bool   `json:"require_auth"`
		SecretPresent  bool   `json:"inbound_secret_present"`
		ReadyToEnforce bool   `json:"ready_to_enforce"`
		Version        string `json:"runtime_version"`
	}{p.RequireAuth, present, present, p.Version})
}

// A transcript is what the platform shows of a session, line by line. Codex keeps its
// own, which is not of that kind; the platform reads so from "supported".
type transcript struct {
	Runtime   string   `json:"runtime"`
	Supported bool     `json:"supported"`
	Lines     []string `json:"lines"`
	Cursor    int      `json:"cursor"`
	More      bool     `json:"more"`
	Source    *string  `json:"source"`
}

func (s *Server) transcript(w http.ResponseWriter, r *http.Request) {
	right := func() bool { return s.cfg.Platform != nil && bears(r, s.cfg.Platform.Token()) }
	if !s.shows(w, r, "transcript", right, func() { unauthorized(w) }) {
		return
	}
	q := r.URL.Query()
	since, err := strconv.Atoi(cmp.Or(q.Get("since"), "0"))
	if err == nil {
		_, err = strconv.Atoi(cmp.Or(q.Get("limit"), "0"))
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, problem{Error: "since and limit must be whole numbers"})
		return
	}
	writeJSON(w, http.StatusOK, transcript{Runtime: "codex", Lines: []string{}, Cursor: since})
}

// mayCall reports whether a caller of A2A has shown what is asked of callers, and
// whether that was our own token.
func (s *Server) mayCall(r *http.Request) (may, token bool) {
	token = s.holdsToken(r)
	asked := s.cfg.Token != "" || s.cfg.Platform != nil && s.cfg.Platform.RequireAuth
	return !asked || token || s.isPlatform(r), token
}

// asCaller is the context of a caller who has shown our own token, or has not.
func asCaller(ctx context.Context, token bool) context.Context {
	if !token {
		return ctx
	}
	return context.WithValue(ctx, keyAuthenticated, true)
}
