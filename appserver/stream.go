package appserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// A stream stands between jsonrpc2 and the child: it is the object stream that
// the library reads and writes. Of what the child sends, only answers to
// pending calls and requests reach the library, put in its inbox by the reading
// goroutine; so do the answers that are made up for calls that were given up.
// The library numbers requests as we tell it to, so that the child's own ids
// can be anything, and its outgoing objects lose the "jsonrpc" that codex does
// not use.
type stream struct {
	out      *outbox
	requests *requests

	mu     sync.Mutex // guards the fields below
	inbox  [][]byte
	closed bool
	wake   *sync.Cond // signaled when either changes
}

var _ jsonrpc2.ObjectStream = (*stream)(nil)

func newStream(out *outbox, requests *requests) *stream {
	s := &stream{out: out, requests: requests}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// put passes a message to the library. Lines put in after Close are dropped.
func (s *stream) put(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.inbox = append(s.inbox, line)
		s.wake.Signal()
	}
}

// ReadObject implements [jsonrpc2.ObjectStream].
func (s *stream) ReadObject(v any) error {
	s.mu.Lock()
	for len(s.inbox) == 0 && !s.closed {
		s.wake.Wait()
	}
	if len(s.inbox) == 0 {
		s.mu.Unlock()
		return io.EOF
	}
	line := s.inbox[0]
	s.inbox[0] = nil
	s.inbox = s.inbox[1:]
	s.mu.Unlock()
	return json.Unmarshal(line, v)
}

// WriteObject implements [jsonrpc2.ObjectStream]. It never waits for the child.
func (s *stream) WriteObject(v any) error {
	object, err := json.Marshal(v)
	if err != nil {
		return err
	}
	e, ok := scanEnvelope(object)
	if !ok {
		return fmt.Errorf("jsonrpc2 made no object of %T", v)
	}
	line := outgoing{}
	if e.method == nil {
		n, _ := parseID(e.id)
		e.id = s.requests.answer(n)
	} else if e.id != nil {
		line.call, _ = parseID(e.id)
	}
	line.text = e.line()
	return s.out.add(line)
}

// line writes the envelope as codex writes its own.
func (e *envelope) line() []byte {
	var b bytes.Buffer
	b.Grow(len(e.params) + len(e.result) + len(e.err) + 100)
	separator := "{"
	member := func(name string, value []byte) {
		if value != nil {
			b.WriteString(separator + `"` + name + `":`)
			separator = ","
			b.Write(value)
		}
	}
	if e.method != nil {
		member("method", []byte(`"`+string(e.method)+`"`))
	}
	member("id", e.id)
	member("params", e.params)
	member("trace", e.trace)
	member("result", e.result)
	member("error", e.err)
	b.WriteString("}\n")
	return b.Bytes()
}

// Close implements [jsonrpc2.ObjectStream]. What was put in before is still read.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake.Signal()
	return nil
}
