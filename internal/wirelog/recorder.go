package wirelog

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

const (
	defaultLimit = 64 << 20
	mostQueued   = 32 << 20        // bytes that may wait to be written
	mostEntry    = 16 << 20        // a longer message is cut off
	cutHead      = 4 << 10         // and this is left of it
	holdTime     = 2 * time.Second // how long a word may stay without its end
	retryTime    = 5 * time.Second // between two tries of a file that cannot be written
	closeTime    = 2 * time.Second // what the disk gets to take the last entries
)

// A Config says what is recorded where. Path must be set.
type Config struct {
	Path   string
	Limit  int64               // of the file, before it becomes FILE.1; 0 is 64 MiB
	Redact func(string) string // takes secrets out of a text; nil leaves it
	Run    Run                 // Format and Version are filled in
	Logger *slog.Logger        // nil discards
}

// A Recorder writes a record. It is the wire of a codex, the recorder of an executor
// and a watcher of its jobs; nil watches nothing. Create it with [Open].
type Recorder struct {
	cfg  Config
	log  *slog.Logger
	done chan struct{} // closed when the goroutine has ended
	wake chan struct{} // 1-buffered

	mu     sync.Mutex // guards the fields below
	queue  []entry
	bytes  int
	lost   Lost
	closed bool
}

// The kinds of entry.
type entryKind int

const (
	kindSend entryKind = iota
	kindReceive
	kindNoise
	kindEvent
)

// An entry is what was recorded, as it came.
type entry struct {
	at    time.Time
	kind  entryKind
	event string
	text  []byte
}

var (
	_ executor.Recorder = (*Recorder)(nil)
	_ executor.Watcher  = (*Recorder)(nil)
)

// Open begins a record. A file that cannot be written is no error: the log says so,
// and it is tried again.
func Open(cfg Config) *Recorder {
	if cfg.Limit <= 0 {
		cfg.Limit = defaultLimit
	}
	if cfg.Redact == nil {
		cfg.Redact = func(s string) string { return s }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Run.Format, cfg.Run.Version = Format, Version
	r := &Recorder{cfg: cfg, log: cfg.Logger, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	w := &writer{
		r: r, file: file{path: cfg.Path, limit: cfg.Limit}, clean: cleaner{cfg.Redact},
		pieces: pieces{redact: cfg.Redact, open: map[string]*stream{}}, secret: map[string]bool{},
	}
	go w.run()
	return r
}

// Close writes what is left. A disk that takes nothing is not waited for.
func (r *Recorder) Close() error {
	r.mu.Lock()
	r.queue = append(r.queue, entry{at: time.Now(), kind: kindEvent, event: EventDone})
	r.closed = true
	r.mu.Unlock()
	r.nudge()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-r.done:
		return nil
	case <-timer.C:
		return errors.New("RUNTIME_DEBUG_WIRE: the end of the record could not be written in time")
	}
}

// Started notes that codex was started. It and the methods below make a Recorder the wire of the driver of codex.
func (r *Recorder) Started(pid int) { r.Record(EventChild, Child{pid}) }

// Sent notes what is said to codex.
func (r *Recorder) Sent(line []byte) { r.add(kindSend, "", line) }

// Received notes what codex says.
func (r *Recorder) Received(line []byte) { r.add(kindReceive, "", line) }

// Dropped notes a line of codex that was too long.
func (r *Recorder) Dropped(size int64) { r.Record(EventLong, Lost{Bytes: size}) }

// Ended notes the end of codex; end is written as JSON.
func (r *Recorder) Ended(end any) { r.Record(EventEnd, end) }

// Record notes an event.
func (r *Recorder) Record(event string, data any) {
	var text []byte
	if data != nil {
		var err error
		if text, err = json.Marshal(data); err != nil {
			text = quoted(err.Error())
		}
	}
	r.add(kindEvent, event, text)
}

// add copies an entry into the queue, if there is room.
func (r *Recorder) add(kind entryKind, event string, text []byte) {
	at := time.Now()
	if len(text) > mostEntry {
		r.Record(EventLong, Lost{Bytes: int64(len(text))})
		kind, text = kindNoise, text[:cutHead]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return
	case r.bytes+len(text) > mostQueued:
		r.lost.Entries++
		r.lost.Bytes += int64(len(text))
		return
	case r.lost.Entries > 0:
		r.queue = append(r.queue, entry{at, kindEvent, EventLost, encode(r.lost)})
		r.lost = Lost{}
	}
	r.queue = append(r.queue, entry{at, kind, event, bytes.Clone(text)})
	r.bytes += len(text)
	r.nudge()
}

func (r *Recorder) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, and whether nothing will follow.
func (r *Recorder) take() (entries []entry, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, r.queue = r.queue, nil
	r.bytes = 0
	return entries, r.closed
}
