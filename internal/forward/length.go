package forward

import (
	"fmt"
	"io"
	"net/http"
)

// How long an answer may be. codex reads a refusal whole, whatever its length, and keeps what it
// makes of an answer (seen on 0.169.0), so one without an end would take all of the machine's
// memory. What a model can say in an answer, each word in an event of its own, is well within.
const (
	mostRefusal = 64 << 10
	mostAnswer  = 256 << 20
)

// bound ends an answer that goes on for longer than it may: a refusal as if that was all, so that
// codex has the words, and any other as one that is cut.
func (f *Forwarder) bound(res *http.Response) {
	if 200 <= res.StatusCode && res.StatusCode <= 299 {
		host := destinationOf(res.Request).url.Host
		res.Body = &bounded{ReadCloser: res.Body, left: mostAnswer, beyond: func() error {
			f.log.Warn("an answer of the model's endpoint is cut: it is longer than any model's", "host", host, "bytes", mostAnswer)
			return fmt.Errorf("the answer is longer than %d bytes", mostAnswer)
		}}
		return
	}
	if res.ContentLength > mostRefusal {
		res.ContentLength = -1
		res.Header.Del("Content-Length")
	}
	res.Body = &bounded{ReadCloser: res.Body, left: mostRefusal, beyond: func() error { return io.EOF }}
}

// A bounded body is read no further than it may.
type bounded struct {
	io.ReadCloser
	left   int          // how many bytes may come
	beyond func() error // what there is in the place of more
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		n, err = b.left, b.beyond()
	}
	b.left -= n
	return n, err
}
