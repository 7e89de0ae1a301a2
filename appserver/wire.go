package appserver

import (
	"bytes"
	"io"
	"sync"
)

// A wireLog records every line in either direction, for people who look for a
// fault. Nil records nothing.
type wireLog struct {
	mu sync.Mutex // guards w: two goroutines record
	w  io.Writer
}

func newWireLog(w io.Writer) *wireLog {
	if w == nil {
		return nil
	}
	return &wireLog{w: w}
}

func (l *wireLog) record(direction string, line []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := append([]byte(direction), bytes.TrimSuffix(line, []byte{'\n'})...)
	_, _ = l.w.Write(append(entry, '\n')) // a record that cannot be kept must not end the session
}
