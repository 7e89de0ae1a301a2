package wirelog

import (
	"path/filepath"
	"testing"
)

// BenchmarkReceived is what the reading goroutine pays for a delta that is recorded.
func BenchmarkReceived(b *testing.B) {
	r := Open(Config{Path: filepath.Join(b.TempDir(), "wire"), Redact: redact})
	line := deltaOf("msg_1", "some words ")
	for b.Loop() {
		r.Received(line)
	}
	if err := r.Close(); err != nil {
		b.Log(err)
	}
}

// BenchmarkCleaned is what the recorder's own goroutine pays for it.
func BenchmarkCleaned(b *testing.B) {
	p, c := pieces{redact: redact, open: map[string]*stream{}}, cleaner{redact}
	raw := deltaOf("msg_1", "some words ")
	var out []byte
	for b.Loop() {
		text, _ := c.json(raw)
		for _, l := range p.add(&line{entry: entry{kind: kindReceive, text: text}, piece: pieceOf(raw)}) {
			out = l.append(out[:0])
		}
	}
}
