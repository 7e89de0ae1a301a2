package server

import (
	"cmp"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

// A Platform is how the platform of a workspace is served. What it shows is compared
// with what stands there at that moment: it is replaced while we run.
type Platform struct {
	Secret func() string // that the platform shows; "" if there is none, and then no caller is let in
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
	r.Use(s.doors.RequirePlatform)
	r.Post("/chat/uploads/ingest", s.ingest)
	r.Get("/file/read", s.readFile)
	r.Get("/a2a-auth-status", s.authStatus)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		// So it is for schedules, which this runtime does not keep: the platform takes
		// a 2xx of /internal/daemons/reload for the word that it does.
		respond.JSON(w, http.StatusNotFound, respond.Problem{Error: "not found"})
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		respond.JSON(w, http.StatusMethodNotAllowed, respond.Problem{Error: "method not allowed"})
	})
}

func (s *Server) authStatus(w http.ResponseWriter, _ *http.Request) {
	p := s.cfg.Platform
	present := p.Secret() != ""
	respond.JSON(w, http.StatusOK, struct {
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
	q := r.URL.Query()
	since, err := strconv.Atoi(cmp.Or(q.Get("since"), "0"))
	if err == nil {
		_, err = strconv.Atoi(cmp.Or(q.Get("limit"), "0"))
	}
	if err != nil {
		respond.JSON(w, http.StatusBadRequest, respond.Problem{Error: "since and limit must be whole numbers"})
		return
	}
	respond.JSON(w, http.StatusOK, transcript{Runtime: "codex", Lines: []string{}, Cursor: since})
}
