package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

const (
	mostUploads = 100
	// overhead is what a multipart body has beside its files.
	overhead = 1 << 20
)

// An upload is a file as the platform is told of it.
type upload struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mimeType"`
	Size     int64  `json:"size"`
}

// An uploadError refuses an upload, with a status.
type uploadError struct {
	status int
	text   string
}

func (e *uploadError) Error() string { return e.text }

// ingest takes files of the user's chat. They go to the disk as they come, and all of
// them are there in the end, or none.
func (s *Server) ingest(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > files.MaxBytes+overhead {
		refuseUpload(w, &uploadError{http.StatusRequestEntityTooLarge, tooLargeUpload()})
		return
	}
	r.Body = http.MaxBytesReader(w, bounds.Patient(w, r, s.cfg.BodyTimeout), files.MaxBytes+overhead)
	stored, err := s.takeUploads(r)
	if err != nil {
		s.cfg.Platform.Files.Remove(stored...)
		s.log.WarnContext(r.Context(), "an upload was not taken", slog.String("request_id", respond.RequestID(r.Context())), slog.Any("err", err))
		refuseUpload(w, err)
		return
	}
	out := struct {
		Files []upload `json:"files"`
	}{}
	for _, f := range stored {
		out.Files = append(out.Files, upload{f.URI, f.Name, f.MediaType, f.Size})
	}
	respond.JSON(w, http.StatusOK, out)
}

func refuseUpload(w http.ResponseWriter, err error) {
	status, text := http.StatusInternalServerError, "the files could not be stored"
	if refused, ok := errors.AsType[*uploadError](err); ok {
		status, text = refused.status, refused.text
	}
	answer := map[string]string{"error": text}
	if status == http.StatusInternalServerError {
		answer["detail"] = "the runtime's disk is full or cannot be written; its log says more"
	}
	w.Header().Set("Connection", "close") // what is left of the body is not read
	respond.JSON(w, status, answer)
}

func tooLargeUpload() string {
	return fmt.Sprintf("the files are larger than %d MB", files.MaxBytes>>20)
}

// takeUploads stores the files of a form. What it returns with an error is to be removed.
func (s *Server) takeUploads(r *http.Request) (stored []files.File, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, &uploadError{http.StatusBadRequest, "send the files as multipart/form-data, in the field files"}
	}
	left := int64(files.MaxBytes)
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && len(stored) == 0:
			return nil, &uploadError{http.StatusBadRequest, "there is no file in the field files"}
		case errors.Is(err, io.EOF):
			return stored, nil
		case err != nil:
			return stored, bodyFault(err)
		}
		if part.FormName() != "files" || part.FileName() == "" {
			continue
		}
		if len(stored) == mostUploads {
			return stored, &uploadError{http.StatusBadRequest, fmt.Sprintf("there are more than %d files", mostUploads)}
		}
		body := &source{Reader: part}
		f, err := s.cfg.Platform.Files.Add(part.FileName(), mediaOfUpload(part), body, left)
		switch {
		case errors.Is(err, files.ErrNoRoom):
			return stored, &uploadError{http.StatusInsufficientStorage, "there is no room for the files beside those of tasks that have not ended; send them again when some have"}
		case errors.Is(err, files.ErrTooLarge):
			return stored, &uploadError{http.StatusRequestEntityTooLarge, tooLargeUpload()}
		case err != nil && body.err != nil:
			return stored, bodyFault(body.err)
		case err != nil:
			return stored, err
		}
		stored = append(stored, f)
		left -= f.Size
	}
}

// bodyFault is what is wrong with a body that cannot be read.
func bodyFault(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &uploadError{http.StatusRequestEntityTooLarge, tooLargeUpload()}
	}
	return &uploadError{http.StatusBadRequest, "the form ended early, came too slowly or is no form"}
}

func mediaOfUpload(part *multipart.Part) string {
	given, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err == nil && given != "application/octet-stream" {
		return given
	}
	if media, _, err := mime.ParseMediaType(mime.TypeByExtension(strings.ToLower(filepath.Ext(part.FileName())))); err == nil {
		return media
	}
	return "application/octet-stream"
}

// A source remembers that it was the reading that failed.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// readFile streams a file of the workspace to the platform's user.
func (s *Server) readFile(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		respond.JSON(w, http.StatusBadRequest, respond.Problem{Error: "path must be an absolute path"})
		return
	}
	file, info, err := s.cfg.Platform.Files.Open(path)
	switch {
	case errors.Is(err, files.ErrNotHere):
		respond.JSON(w, http.StatusNotFound, respond.Problem{Error: "file not found"})
		return
	case err != nil:
		respond.JSON(w, http.StatusForbidden, respond.Problem{Error: "this file must not be read"})
		return
	}
	defer file.Close()
	toBeSaved(w.Header(), info.Name()) // which the platform hands on, and no other of our headers but type and length
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, info.Name(), info.ModTime(), file)
}
