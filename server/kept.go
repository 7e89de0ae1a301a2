package server

import (
	"context"
	"io/fs"
	"mime"
	"net/http"
	"os"

	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

// nothingKept has no copies: old tasks may name some all the same.
type nothingKept struct{}

func (nothingKept) Open(context.Context, string, string) (*os.File, fs.FileInfo, error) {
	return nil, nil, fs.ErrNotExist
}

// keptRoutes serve the copies of files that tasks hand out. The token in the URL is all
// that is asked for, so that a URL can be given to another program.
func (s *Server) keptRoutes(r chi.Router) {
	for _, path := range []string{respond.FilesPath + "{task}/{token}", respond.FilesPath + "{task}/{token}/{name}"} {
		both(r, path, s.keptFile)
	}
}

// keptFile serves a file as something to be saved: what stands in it is a model's, and
// must not run as a page of this origin. See [inert].
func (s *Server) keptFile(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-cache")
	file, info, err := s.cfg.Kept.Open(r.Context(), chi.URLParam(r, "task"), chi.URLParam(r, "token"))
	if err != nil {
		respond.Fail(w, r, http.StatusNotFound, "there is no such file, or none any more: files are kept as long as their task, and until their expiresAt at most; ask the agent for it again")
		return
	}
	defer file.Close()
	name, media := files.ShelvedName(info)
	h.Set("Content-Type", media)
	toBeSaved(h, name)
	h.Set("ETag", `"`+info.Name()[:16]+`"`)
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// toBeSaved has browsers save a file and not show it.
func toBeSaved(h http.Header, name string) {
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}
