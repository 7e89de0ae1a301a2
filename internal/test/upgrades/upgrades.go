// Package upgrades has what endpoints do with a request for a WebSocket in place of taking it.
package upgrades

import (
	"io"
	"net/http"
	"strconv"
)

// Refusals are all that are known, by name. Some quote words, by which a test sees where they go.
func Refusals(words string) map[string]http.HandlerFunc {
	const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
	all := map[string]http.HandlerFunc{
		"page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>"+words+"</html>") },
		"endless": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"silence":          func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"cut":              Bytes(""),
		"no HTTP":          Bytes(words + "\r\n\r\n"),
		"half":             Bytes("HTTP/1.1 101 "),
		"another key":      Bytes(switching + "websocket\r\nSec-WebSocket-Accept: " + words + "\r\n\r\n"),
		"another protocol": Bytes(switching + "h2c\r\n\r\n"),
	}
	for _, status := range []int{200, 204, 400, 401, 403, 404, 405, 426, 429, 500, 501, 502, 503, 504} {
		all[strconv.Itoa(status)] = Status(status)
	}
	return all
}

// Status answers with a status, and in the body as endpoints of a model do.
func Status(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"invalid_api_key","message":"no"}}`)
	}
}

// Bytes answers by these, and closes the connection.
func Bytes(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}
}
