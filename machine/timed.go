package machine

import (
	"net/http"
	"time"
)

// pieceTime is what the body of a request may take, and an answer; of long ones, a piece of them.
const pieceTime = time.Minute

// timed bounds the reading of bodies. What a request is for takes its time: once its body has been read it is not hurried,
// as a deadline for reading would have it be taken for one whose sender has gone.
func timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // that of the answer before
		if r.Body != http.NoBody {
			readWithin(w)
		}
		next.ServeHTTP(w, r)
	})
}

func readWithin(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(pieceTime))
}

// hasRead says that a body has been read.
func hasRead(w http.ResponseWriter) { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }

func writeWithin(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pieceTime))
}

// A lasting body is read as long as there is a piece of it in time.
type lasting struct {
	w http.ResponseWriter
	r *http.Request
}

func (l lasting) Read(p []byte) (int, error) {
	readWithin(l.w)
	n, err := l.r.Body.Read(p)
	if err != nil {
		hasRead(l.w)
	}
	return n, err
}

// A lasting answer is written likewise.
type lastingAnswer struct{ http.ResponseWriter }

func (l lastingAnswer) Write(p []byte) (int, error) {
	writeWithin(l.ResponseWriter)
	return l.ResponseWriter.Write(p)
}
