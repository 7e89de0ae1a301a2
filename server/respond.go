package server

import (
	"net/http"
	"strconv"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// writeJSON answers with v. The body is made before the status is written, so
// that a value that cannot be encoded is a clean 500. What callers ask for is
// encoded where its error still has an envelope, and a log: see [guard.public].
func writeJSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, wire.JSON, status, v)
}

func writeAs(w http.ResponseWriter, media string, status int, v any) {
	body, err := wire.Encode(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`+"\n")
	}
	writeBody(w, media, status, body)
}

func writeBody(w http.ResponseWriter, media string, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and said to be; the reader is gone, or the log says so
}
