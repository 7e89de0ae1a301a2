package appserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	lineBuffer = 64 << 10 // lines up to this length are not copied
	lostHead   = 8 << 10  // kept of the beginning of a line that is dropped
	lostTail   = 8 << 10  // and of its end
)

// A lineReader cuts the output of the child into lines. It never holds more
// than max bytes of one, whatever the child sends.
type lineReader struct {
	r   *bufio.Reader
	max int
}

// A rawLine is one line without its end. If it was longer than allowed, only
// its head and tail are left, which hold what tells whose it was.
type rawLine struct {
	text  []byte
	owned bool // text may be kept; else it is valid until the next call

	tooLong    bool
	size       int64
	head, tail []byte
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, lineBuffer), max: limit}
}

// next returns the next line. A last line without a line end is returned as
// any other, and then the error.
func (l *lineReader) next() (rawLine, error) {
	part, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.long(part), nil
	}
	if err != nil && len(part) == 0 {
		return rawLine{}, err
	}
	if text := trimEnd(part); len(text) <= l.max {
		return rawLine{text: text}, nil
	}
	return newLost(part), nil
}

// long reads on a line that is longer than the buffer. What goes wrong while
// reading is met again by next.
func (l *lineReader) long(part []byte) rawLine {
	text := append(make([]byte, 0, 4*len(part)), part...)
	for more := true; more; {
		var err error
		part, err = l.r.ReadSlice('\n')
		more = errors.Is(err, bufio.ErrBufferFull)
		text = append(text, part...)
		if more && len(text) > l.max {
			return l.lose(text)
		}
	}
	if text = trimEnd(text); len(text) > l.max {
		return newLost(text)
	}
	return rawLine{text: text, owned: true}
}

// lose reads a line that is too long to its end, keeping only its edges.
func (l *lineReader) lose(text []byte) rawLine {
	line := newLost(text)
	for {
		part, err := l.r.ReadSlice('\n')
		line.grow(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line
		}
	}
}

func newLost(text []byte) rawLine {
	line := rawLine{tooLong: true, head: bytes.Clone(text[:min(len(text), lostHead)])}
	line.grow(text)
	return line
}

// grow adds a further part of a line that is dropped.
func (line *rawLine) grow(part []byte) {
	line.size += int64(len(part))
	line.tail = append(line.tail, part[max(0, len(part)-lostTail):]...)
	if excess := len(line.tail) - lostTail; excess > 0 {
		line.tail = append(line.tail[:0], line.tail[excess:]...)
	}
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// owner says whose a dropped line was. The method and the id stand at the
// head. The thread may stand behind the big item, as in item/completed: the
// last member of that name in the tail is it, because quotes within a text are
// escaped and everything nested stands before it.
func (line *rawLine) owner() (e envelope) {
	e, _ = scanEnvelope(line.head)
	if e.threadID == nil {
		e.threadID = lastString(line.tail, `"threadId":"`)
	}
	if e.id == nil && e.method == nil {
		e.id = trailingID(line.tail)
	}
	return e
}

// lastString returns the string behind the last occurrence of prefix.
func lastString(b []byte, prefix string) []byte {
	i := bytes.LastIndex(b, []byte(prefix))
	if i < 0 || (i > 0 && b[i-1] == '\\') {
		return nil
	}
	value, _, ended := bytes.Cut(b[i+len(prefix):], []byte{'"'})
	if !ended {
		return nil
	}
	return value
}

// trailingID returns the id that ends a refusal: codex writes it last there.
func trailingID(tail []byte) []byte {
	const prefix = `"id":`
	i := bytes.LastIndex(tail, []byte(prefix))
	if i < 0 {
		return nil
	}
	id := bytes.TrimSpace(tail[i+len(prefix):])
	id, ended := bytes.CutSuffix(id, []byte{'}'})
	if _, isID := parseID(id); !ended || !isID {
		return nil
	}
	return id
}
