package forward

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// laneBytes is how much of a message is held: a longer one goes on in frames of so much.
const laneBytes = 32 << 10

// A lane carries messages one way. A message that fits goes on in one frame.
type lane struct {
	from, to *websocket.Conn
	secret   *secret // that is covered in what goes on; nil where nothing is
	// heed is shown what goes on, piece by piece, and may end the lane.
	heed func(piece []byte, at place) error
	// gone is called when a message has gone on as a whole.
	gone func()

	since atomic.Int64 // when the piece under way began, in ns of the clock; 0 between messages
}

// A place says where in its message a piece stands.
type place struct{ first, last bool }

var heldPieces = sync.Pool{New: func() any { return new([laneBytes]byte) }} //nolint:gochecknoglobals // memory that all lanes share

// run carries messages until either side has ended, which is its error.
func (l *lane) run() error {
	for {
		if err := l.carry(); err != nil {
			return err
		}
		l.gone()
		l.since.Store(0) // behind gone: at each moment the lane is busy, or was used
	}
}

// carry carries the next message.
func (l *lane) carry() error {
	// A context would cost a message more than all else here: the relay ends a lane by closing both sides.
	kind, message, err := l.from.Reader(context.Background())
	if err != nil {
		return err
	}
	held := heldPieces.Get().(*[laneBytes]byte) //nolint:forcetypeassert // nothing else is in it
	defer heldPieces.Put(held)
	n, last, err := l.fill(message, held[:])
	if err != nil {
		return err
	}
	if !last {
		begins := bytes.Clone(held[:n])
		return l.carryLong(kind, begins, io.MultiReader(bytes.NewReader(begins), message), held[:])
	}
	if l.secret != nil {
		l.secret.message(held[:n])
	}
	if err := l.heed(held[:n], place{true, true}); err != nil {
		return err
	}
	return l.to.Write(context.Background(), kind, held[:n])
}

// carryLong carries a message that does not fit; begins is the piece of it that does.
func (l *lane) carryLong(kind websocket.MessageType, begins []byte, message io.Reader, held []byte) error {
	if l.secret != nil && l.secret.isLookedFor(begins) {
		message = l.secret.body(io.NopCloser(message), func() {})
	}
	out, err := l.to.Writer(context.Background(), kind)
	if err != nil {
		return err
	}
	for at := (place{first: true}); !at.last; at.first = false {
		n, last, err := l.fill(message, held)
		if err != nil {
			return err
		}
		at.last = last
		if err := l.heed(held[:n], at); err != nil {
			return err
		}
		if _, err := out.Write(held[:n]); err != nil {
			return err
		}
	}
	return out.Close()
}

// fill reads a message until there is no room, or no more of it.
func (l *lane) fill(message io.Reader, held []byte) (n int, last bool, err error) {
	l.since.Store(time.Now().UnixNano())
	for n < len(held) {
		more, err := message.Read(held[n:])
		n += more
		switch {
		case errors.Is(err, io.EOF):
			return n, true, nil
		case err != nil:
			return n, false, err
		}
	}
	return n, false, nil
}

// busy reports whether a message is on its way.
func (l *lane) busy() bool { return l.since.Load() != 0 }

// stalls reports whether a piece has not gone on for too long.
func (l *lane) stalls() bool {
	since := l.since.Load()
	return since != 0 && time.Since(time.Unix(0, since)) > stalledTime
}
