package appserver

import (
	"bytes"
	"testing"
)

// TestQueueOfAnIdleThread: what codex tells of a thread that nobody reads has a bound, and a gap is
// told of once.
func TestQueueOfAnIdleThread(t *testing.T) {
	q := &queue{threadID: "t", limit: 1 << 20}
	const size = 2 << 20
	for range 50 {
		if taken, dropped := q.push(Notification{Method: NoteItemCompleted, Params: bytes.Repeat([]byte("x"), size)}); !taken || dropped {
			t.Fatalf("%t, %t", taken, dropped)
		}
	}
	q.push(Notification{Method: NoteTurnCompleted, Params: []byte("{}")})
	if q.bytes > q.limit+mostBeyond+1000 {
		t.Errorf("%d bytes are held", q.bytes)
	}
	var kept, gaps, ends int
	for n, ok := q.popLocked(); ok; n, ok = q.popLocked() {
		switch n.Method {
		case NoteItemCompleted:
			kept++
		case NoteTurnCompleted:
			ends++
		case NoteOverflow:
			gaps++
		}
	}
	if kept != (1<<20+mostBeyond)/size || gaps != 1 || ends != 1 {
		t.Errorf("%d items are kept, %d gaps, %d ends", kept, gaps, ends)
	}
}
