package feed

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// ErrBehind says that the log has let go of the reader: it goes on in the journal.
var ErrBehind = errors.New("the reader is too far behind")

// A Reader is where one stands in the log of a feed. It keeps the entries behind it alive, until
// the log lets go of it. It is used by one goroutine.
type Reader struct {
	feed *Feed
	at   atomic.Pointer[entry] // that the reader has had last; nil once the log has let go of it
	last Cursor                // of that entry
}

// View returns the task as it is shown, and has the reader stand behind all of that.
func (f *Feed) View(r *Reader) *a2a.Task {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.feed = f
	r.set(f.log.tail)
	return f.taskLocked()
}

// Skip has the reader stand behind all that is shown.
func (r *Reader) Skip() {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.set(r.feed.log.tail)
}

func (r *Reader) set(e *entry) {
	r.at.Store(e)
	r.last = e.at
}

// At returns where the reader stands.
func (r *Reader) At() Cursor { return r.last }

// LetGo has the reader keep nothing alive: it reads no further.
func (r *Reader) LetGo() { r.at.Store(nil) }

// Open has the log look after the reader until it is closed: it may be slow from the first event on.
func (r *Reader) Open() (closed func()) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.feed.log.readers = append(r.feed.log.readers, r)
	return func() {
		r.feed.mu.Lock()
		defer r.feed.mu.Unlock()
		r.feed.log.leave(r)
	}
}

// Next returns the event behind the reader, which moves on, or a channel that is closed when there is
// one. It returns [io.EOF] after the last one.
func (r *Reader) Next() (*Event, <-chan struct{}, error) {
	at := r.at.Load()
	switch {
	case at == nil:
		return nil, nil, ErrBehind
	case at.last:
		return nil, nil, io.EOF
	}
	next, more := r.feed.after(at)
	if next == nil {
		return nil, more, nil
	}
	r.at.CompareAndSwap(at, next) // unless the log has let go of it
	r.last = next.at
	return next.event, nil, nil
}

// after returns the entry that follows at, or a channel that is closed when
// there is one.
func (f *Feed) after(at *entry) (*entry, <-chan struct{}) {
	if next := at.next.Load(); next != nil {
		return next, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if next := at.next.Load(); next != nil {
		return next, nil
	}
	return nil, f.log.more.wait()
}
