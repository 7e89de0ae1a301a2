package appserver

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// drainLimit bounds how long a pipe is read after the child is gone, should a
// grandchild outside its group go on writing to it.
const drainLimit = 2 * time.Second

// An output is our end of the child's stdout or stderr. When the child is
// gone, [output.exited] makes it end with what is in the pipe at that moment,
// also where somebody else still holds the other end open.
type output struct {
	f     *os.File
	raw   syscall.RawConn
	until time.Time // set once the child is gone; read by the reading goroutine only
}

func newOutput(f *os.File) (*output, error) {
	// A file without deadlines is one that would block whoever reads it.
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	return &output{f: f, raw: raw}, err
}

// exited wakes the reader. It may be called from any goroutine.
func (o *output) exited() error { return o.f.SetReadDeadline(time.Now()) }

// Read reads like a file until exited, and then what is there without waiting.
func (o *output) Read(p []byte) (int, error) {
	if o.until.IsZero() {
		n, err := o.read(p, true)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		o.until = time.Now().Add(drainLimit)
		if err := o.f.SetReadDeadline(time.Time{}); err != nil {
			return 0, err
		}
	}
	if time.Now().After(o.until) {
		return 0, io.EOF
	}
	return o.read(p, false)
}

// read reads what the pipe holds. An empty one is waited for, or is its end.
func (o *output) read(p []byte, wait bool) (n int, err error) {
	var readErr error
	err = o.raw.Read(func(fd uintptr) bool {
		n, readErr = readReady(fd, p)
		return !wait || !errors.Is(readErr, syscall.EAGAIN)
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(readErr, syscall.EAGAIN), readErr == nil && n == 0:
		return 0, io.EOF
	case readErr != nil:
		return 0, readErr
	}
	return n, nil
}

// tailBytes is how much of stderr is kept for errors.
const tailBytes = 8 << 10

// A tail keeps the last words of the child.
type tail struct {
	mu  sync.Mutex // guards the fields below
	b   []byte
	cut bool // something before b was dropped
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-tailBytes):]...)
	if excess := len(t.b) - tailBytes; excess > 0 || len(p) > tailBytes {
		t.b = append(t.b[:0], t.b[max(0, excess):]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns whole lines, without terminal colours.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.b)
	if t.cut {
		if _, after, found := strings.Cut(text, "\n"); found {
			text = after
		}
	}
	return strings.TrimSpace(withoutColours(strings.ToValidUTF8(text, "�")))
}

// withoutColours removes the escape sequences (ESC [ … letter) of codex's log.
func withoutColours(s string) string {
	var clean strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		clean.WriteString(before)
		if !found {
			return clean.String()
		}
		s = after
		if end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' }); end >= 0 {
			s = after[end+1:]
		}
	}
}
