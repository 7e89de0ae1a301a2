package wirelog

import (
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A writer is the recorder's goroutine: it takes entries out of the queue, cleans
// them and writes them.
type writer struct {
	r      *Recorder
	file   file
	clean  cleaner
	pieces pieces
	begun  bool      // the file has our run
	failed time.Time // when the file could not be written last; zero if it can be
	lost   Lost      // since then
	buffer []byte
	secret map[string]bool // requests of codex for what it calls secret, by their ids
}

func (w *writer) run() {
	defer close(w.r.done)
	ticker := time.NewTicker(holdTime)
	defer ticker.Stop()
	w.begin()
	for last := false; !last; {
		var entries []entry
		quiet := false
		select {
		case <-w.r.wake:
		case <-ticker.C:
			quiet = true
		}
		entries, last = w.r.take()
		for _, e := range entries {
			w.write(w.pieces.add(w.cleaned(e)))
		}
		if quiet && len(entries) == 0 || last {
			w.write(w.pieces.all())
		}
	}
	if err := w.file.close(); err != nil {
		w.complain(err)
	}
}

// cleaned is an entry without secrets, but for those that come in pieces.
func (w *writer) cleaned(e entry) *line {
	l := &line{entry: e}
	if e.kind == kindNoise || len(e.text) == 0 && e.kind != kindEvent {
		return w.noise(l)
	}
	if e.kind == kindEvent && len(e.text) == 0 {
		return l
	}
	if w.asksForSecret(e) || w.tellsSecret(e) {
		l.text = allHidden(e.text)
		return l
	}
	if e.kind == kindReceive {
		l.piece = pieceOf(e.text)
	}
	clean, ok := w.clean.json(e.text)
	if !ok {
		return w.noise(l)
	}
	l.text = clean
	return l
}

// noise is a line that is no JSON, as a text.
func (w *writer) noise(l *line) *line {
	l.kind, l.piece = kindNoise, nil
	l.text = quoted(brief.Cleared(string(l.text), mostNoise, w.clean.redact))
	return l
}

// mostNoise is looked through for secrets of a line that is no message.
const mostNoise = 64 << 10

// begin opens the file and writes what it is.
func (w *writer) begin() {
	err := w.file.open()
	if err == nil {
		run := w.r.cfg.Run
		run.Continues = w.begun
		if err = w.file.write(appendEvent(nil, time.Now(), EventRun, encode(run))); err == nil {
			w.begun = true
			return
		}
		err = errors.Join(err, w.file.close())
	}
	w.complain(err)
}

// write writes lines. What the file does not take is counted.
func (w *writer) write(lines []*line) {
	if len(lines) == 0 || !w.ready() {
		w.lose(lines)
		return
	}
	w.buffer = w.buffer[:0]
	if w.lost.Entries > 0 {
		w.buffer = appendEvent(w.buffer, time.Now(), EventLost, encode(w.lost))
	}
	for _, l := range lines {
		w.buffer = l.append(w.buffer)
	}
	if err := w.append(); err != nil {
		w.complain(err)
		w.lose(lines)
		return
	}
	w.lost = Lost{}
	if cap(w.buffer) > 1<<20 {
		w.buffer = nil
	}
}

// append puts the buffer into the file, in a new one if this is full.
func (w *writer) append() error {
	if w.file.full(len(w.buffer)) {
		if err := w.file.rotate(); err != nil {
			return err
		}
		run := w.r.cfg.Run
		run.Continues = true
		if err := w.file.write(appendEvent(nil, time.Now(), EventRun, encode(run))); err != nil {
			return err
		}
	}
	return w.file.write(w.buffer)
}

// ready reports whether the file is to be written to: one that has failed is left
// alone for a while.
func (w *writer) ready() bool {
	if w.failed.IsZero() {
		return true
	}
	if time.Since(w.failed) < retryTime {
		return false
	}
	if w.file.f == nil {
		if w.begin(); w.file.f == nil {
			return false
		}
	}
	w.failed = time.Time{}
	w.r.log.Info("the record of codex's messages goes on", "entries_lost", w.lost.Entries)
	return true
}

func (w *writer) lose(lines []*line) {
	for _, l := range lines {
		w.lost.Entries++
		w.lost.Bytes += int64(len(l.text))
	}
}

// complain says once that the file cannot be written.
func (w *writer) complain(err error) {
	if w.failed.IsZero() && w.lost.Entries == 0 {
		w.r.log.Warn("codex's messages cannot be recorded (RUNTIME_DEBUG_WIRE); turns go on", "file", w.r.cfg.Path, "err", err)
	}
	w.failed = time.Now()
}

// append writes the line as it stands in the file.
func (l *line) append(b []byte) []byte {
	switch l.kind {
	case kindSend:
		return appendEntry(b, l.at, "send", l.text)
	case kindReceive:
		return appendEntry(b, l.at, "receive", l.text)
	case kindNoise:
		return appendEntry(b, l.at, "noise", l.text)
	}
	return appendEvent(b, l.at, l.event, l.text)
}
