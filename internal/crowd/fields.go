package crowd

import (
	"net/http"
	"time"
)

// mostFields is how many values the fields of a header may have. A field of a few bytes takes
// some hundred in memory, for as long as its request lasts, and no caller has a hundred.
const mostFields = 100

// manyFields reports whether a header has more than it may.
func manyFields(header http.Header) bool {
	n := 0
	for _, values := range header {
		n += len(values)
	}
	return n > mostFields
}

// refuseFields answers a request with too many of them as net/http answers one whose header
// has too many bytes: its connection is closed, without its body being waited for. R must be
// the one of net/http, which keeps it until the connection is closed.
func refuseFields(w http.ResponseWriter, r *http.Request) {
	r.Header = http.Header{}
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	http.Error(w, "the header has too many fields", http.StatusRequestHeaderFieldsTooLarge)
}
