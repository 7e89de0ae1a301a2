package files

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"
)

// ErrNoRoom says that the files in the folder take all that they may, and that none of them
// can go.
var ErrNoRoom = errors.New("files of messages take all that they may")

// peerShare is the part of a quota that files of other agents may take, all together: what
// they call themselves is theirs to choose.
const peerShare = 4

// least is what a file counts in a quota at least, so that there is an end to their number.
const least = 64 << 10

// An Owner says whose a file in the folder is.
type Owner struct {
	Peer bool   // another agent's, or of a task of one
	Own  bool   // one message's own, and of no use without it
	Task string // that hands it out; empty is none
}

// A Record is what is known of a file in the folder beside what stands there.
type Record struct {
	Name  string
	Peer  bool      // only other agents have it
	Own   bool      // it was brought as one message's own
	Named bool      // a message names it, or a task that hands it out
	Open  bool      // one of their tasks has not ended
	Ended time.Time // the latest end of those tasks; zero if there is none, or none is known any more
}

// Records have what is known of the files in the folder. They must not call the [Quota].
type Records interface {
	// Note says whose a file is, before it has its name.
	Note(name string, of Owner) error
	// One returns what is known of a file; all but the name may be zero.
	One(name string) (Record, error)
	All() ([]Record, error)
	// Forget says that files are gone.
	Forget(names ...string) error
}

// A Quota bounds what stands in the folder. Where there is no room for a file, others go:
// those of other agents first, then the rest, and of either those first whose tasks ended
// first. What a task names that has not ended stays, and so does what is held for a message
// that is not accepted yet.
//
// Other agents have a share of it, so that theirs go for theirs. For one of theirs nothing
// else goes but what stands in that share: the rest may take all of the quota while there is
// nothing of other agents'.
//
// Folders of one working directory must share one. It may be used concurrently; nil bounds
// nothing.
type Quota struct {
	folder  *Folder // to list and remove what stands there
	records Records
	most    func() int64
	log     *slog.Logger
	fresh   time.Duration // how long what look has found is taken for known

	mu      sync.Mutex          // guards the fields below, and is held while files go
	entries map[string]*entry   // by name; nil until they are counted
	used    tally               // by them
	writing tally               // by files that do not have their names yet
	leaving map[bool][]*leaving // of other agents and of the rest, as look has found them; the first goes first
	looked  time.Time           // when it did
}

// An entry is a file that counts.
type entry struct {
	bytes int64 // 0 while nothing stands there
	peer  bool
	holds int       // of messages that are not accepted yet, and of those that write it
	at    time.Time // when it was written
}

// A tally counts bytes.
type tally struct{ peers, others int64 }

func (t *tally) add(peer bool, bytes int64) {
	if peer {
		t.peers += bytes
	} else {
		t.others += bytes
	}
}

// NewQuota returns the quota of a folder, of which Work, User and Log of the configuration
// count. Most is how many bytes may stand there, and is asked each time.
func NewQuota(cfg Config, records Records, most func() int64) *Quota {
	folder := New(Config{Work: cfg.Work, User: cfg.User, Log: cfg.Log})
	return &Quota{folder: folder, records: records, most: most, log: folder.cfg.Log, fresh: fresh}
}

// Most is how many bytes files may have that come together.
func (q *Quota) Most(peer bool) int64 {
	if q == nil {
		return math.MaxInt64
	}
	if peer {
		return q.most() / peerShare
	}
	return q.most()
}

// hold keeps a file from going until release. It is brought, or else stands there: such a one
// is no other agent's, if nothing is known of it. Hold reports whether only other agents have
// the file. What another has named, too, does not become theirs again.
func (q *Quota) hold(name string, of Owner, brought bool) (peer bool, err error) {
	if q == nil {
		return of.Peer, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.countedLocked(); err != nil {
		return false, err
	}
	e := q.entries[name]
	if e == nil {
		e = &entry{peer: of.Peer && brought}
		q.entries[name] = e
	}
	e.holds++
	if e.peer && !of.Peer {
		q.used.add(true, -e.bytes)
		q.used.add(false, e.bytes)
		e.peer = false
	}
	return e.peer, nil
}

// release is the end of hold. A file that was noted and has not come is forgotten.
func (q *Quota) release(names ...string) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		e := q.entries[name]
		if e == nil {
			continue
		}
		if e.holds--; e.holds <= 0 && e.bytes == 0 {
			delete(q.entries, name)
			if known, err := q.records.One(name); err == nil && !known.Named {
				_ = q.records.Forget(name) // the next count gets what this does not
			}
		}
	}
}

// drop removes files that are messages' own, unless something names them.
func (q *Quota) drop(names ...string) error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	failed := q.countedLocked()
	for _, name := range names {
		e := q.entries[name]
		if e == nil || e.holds > 0 {
			continue
		}
		known, err := q.records.One(name)
		if err == nil && known.Own && !known.Named {
			err = q.removeLocked(name)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// discard removes files, whatever names them.
func (q *Quota) discard(names ...string) (failed error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		failed = errors.Join(failed, q.removeLocked(name))
	}
	return failed
}

// removeLocked takes a file away.
func (q *Quota) removeLocked(name string) error {
	if err := q.folder.removeNames(name); err != nil {
		return fmt.Errorf("remove a file of a message: %w", err)
	}
	if e := q.entries[name]; e != nil {
		q.used.add(e.peer, -e.bytes)
		if e.bytes = 0; e.holds == 0 {
			delete(q.entries, name)
		}
	}
	return q.records.Forget(name)
}
