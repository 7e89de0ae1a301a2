package files

import (
	"io/fs"
	"time"
)

// A writing is a file that is being written. It counts as it grows, and is held.
type writing struct {
	quota *Quota
	name  string
	peer  bool
	has   int64 // bytes that it has room for
	wrote int64
}

// begin has room made for a file, and notes whose it is before it has its name. The caller
// ends it.
func (q *Quota) begin(name string, of Owner) (*writing, error) {
	w := &writing{quota: q, name: name}
	if q == nil {
		return w, nil
	}
	var err error
	if w.peer, err = q.hold(name, of, true); err != nil {
		return nil, err
	}
	if err = w.room(0); err == nil {
		of.Peer = w.peer
		err = q.records.Note(name, of)
	}
	if err != nil {
		w.end(nil)
		return nil, err
	}
	return w, nil
}

// room has room made for so many bytes more.
func (w *writing) room(bytes int64) error {
	if w.quota == nil {
		return nil
	}
	w.wrote += bytes
	need := max(w.wrote, least) - w.has
	if need <= 0 {
		return nil
	}
	w.quota.mu.Lock()
	defer w.quota.mu.Unlock()
	if err := w.quota.roomLocked(w.peer, need); err != nil {
		return err
	}
	w.has += need
	w.quota.writing.add(w.peer, need)
	return nil
}

// end has the file count as what stands there now; nil is nothing new.
func (w *writing) end(info fs.FileInfo) {
	q := w.quota
	if q == nil {
		return
	}
	q.mu.Lock()
	q.writing.add(w.peer, -w.has)
	if e := q.entries[w.name]; e != nil && info != nil {
		q.used.add(e.peer, size(info)-e.bytes)
		e.bytes, e.at = size(info), time.Now()
	}
	q.mu.Unlock()
	q.release(w.name)
}

// note says whose a file is that stands there already.
func (q *Quota) note(name string, of Owner) error {
	if q == nil {
		return nil
	}
	return q.records.Note(name, of)
}

// mayBegin reports why a file of a message would not be begun: what is fetched for it would
// be for nothing.
func (q *Quota) mayBegin(peer bool) error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.countedLocked(); err != nil {
		return err
	}
	return q.roomLocked(peer, least)
}
