package server

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// A problem is the body of a refusal that does not belong to a binding. Error
// is a plain string, which is what the platform reads.
type problem struct {
	Error     string   `json:"error"`
	RequestID string   `json:"requestId,omitempty"`
	Routes    []string `json:"routes,omitempty"`
}

// fail refuses r outside of any binding.
func fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	writeJSON(w, status, problem{Error: text, RequestID: requestID(r.Context())})
}

// writeJSON answers with v. The body is made before the status is written, so
// that a value that cannot be encoded is a clean 500.
func writeJSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, "application/json", status, v)
}

func writeAs(w http.ResponseWriter, media string, status int, v any) {
	body, err := encode(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`+"\n")
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and said to be; the reader is gone, or the log says so
}

// encode is json.Marshal with a newline behind it and without the escaping of
// <, > and &, which only matters inside of HTML.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
