package bounds

import (
	"net/http"
	"time"
)

// writePiece is how much is written under one deadline: a slow reader of a
// large answer has to take this much each time, not all of it.
const writePiece = 64 << 10

// A deadlineWriter gives each write to a connection its own deadline, and
// remembers what was answered. It is used by one goroutine at a time.
type deadlineWriter struct {
	http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	armed   time.Time // when the deadline was last set

	body   *watchedBody // of the request; nil if it has none
	status int          // 0 until the header is written
	bytes  int64
}

// Deadlines gives the body of a request until then to come, and each write of its answer
// the timeout. The answer is to be written to what it returns, which is to be released when
// the handler has returned.
func Deadlines(w http.ResponseWriter, r *http.Request, then time.Time, timeout time.Duration) *deadlineWriter {
	dw := &deadlineWriter{ResponseWriter: w, rc: http.NewResponseController(w), timeout: timeout}
	readBy(w, r.Body, then)
	if r.Body != nil && r.Body != http.NoBody {
		dw.body = &watchedBody{ReadCloser: r.Body}
		r.Body = dw.body
	}
	return dw
}

// Status is the status of the answer; 0 until its header is written.
func (w *deadlineWriter) Status() int { return w.status }

// Size is how many bytes of the answer's body were written.
func (w *deadlineWriter) Size() int64 { return w.bytes }

// Begun reports whether an answer that is written under deadlines has begun.
func Begun(w http.ResponseWriter) bool {
	dw, ok := w.(*deadlineWriter)
	return ok && dw.status != 0
}

// arm moves the deadline. Setting it costs a timer, so it is moved only when an
// eighth of it has passed.
func (w *deadlineWriter) arm() {
	now := time.Now()
	if now.Sub(w.armed) < w.timeout/8 {
		return
	}
	w.armed = now
	_ = w.rc.SetWriteDeadline(now.Add(w.timeout)) // test recorders have none
}

// begin notes the status of an answer that begins.
func (w *deadlineWriter) begin(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if w.Header().Get("Content-Type") != "text/event-stream" { // which would end with the connection
		w.leave()
	}
}

// leave has the rest of a body that was not read not be waited for, which net/http would do
// before it sends the answer: it closes the connection instead, unless the rest is here.
func (w *deadlineWriter) leave() {
	if w.body != nil && !w.body.ended {
		readBy(w.ResponseWriter, w.body, time.Now())
	}
}

func (w *deadlineWriter) WriteHeader(status int) {
	if status >= 200 {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *deadlineWriter) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	var written int
	for {
		piece := p[written:min(len(p), written+writePiece)]
		w.arm()
		n, err := w.ResponseWriter.Write(piece)
		written += n
		w.bytes += int64(n)
		if err != nil || written >= len(p) {
			return written, err
		}
	}
}

// Flush implements [http.Flusher], which the SDK asks for.
func (w *deadlineWriter) Flush() { _ = w.FlushError() }

// FlushError is what [http.ResponseController] calls.
func (w *deadlineWriter) FlushError() error {
	w.begin(http.StatusOK)
	w.arm()
	return w.rc.Flush()
}

// Unwrap lets [http.ResponseController] reach the connection.
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Release leaves a fresh deadline for what net/http still has to write when the
// handler has returned. It clears it itself after that.
func (w *deadlineWriter) Release() {
	w.armed = time.Time{}
	w.arm()
	if w.status == 0 {
		w.leave()
	}
}
