package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

const plainJSON = "application/json"

// writeJSON answers with v. The body is made before the status is written, so
// that a value that cannot be encoded is a clean 500. What callers ask for is
// encoded where its error still has an envelope, and a log: see [guard.public].
func writeJSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, plainJSON, status, v)
}

func writeAs(w http.ResponseWriter, media string, status int, v any) {
	body, err := encode(v)
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

// marshal is json.Marshal without the escaping of <, > and &, which only matters
// inside of HTML.
func marshal(v any) (json.RawMessage, error) { return encodeWithin("", v, "") }

// encode is marshal with a newline behind it.
func encode(v any) ([]byte, error) { return encodeWithin("", v, "\n") }

// encodeWithin writes head, v and tail. What is JSON already is not read again.
func encodeWithin(head string, v any, tail string) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(head)
	if raw, ok := v.(json.RawMessage); ok {
		buf.Write(raw)
	} else {
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		buf.Truncate(buf.Len() - 1) // its newline
	}
	buf.WriteString(tail)
	return buf.Bytes(), nil
}
