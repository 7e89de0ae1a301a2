package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// unpaged lifts the bound of Config.MaxPages.
func unpaged(s *Store) error {
	return s.do(context.Background(), "make room", relaxed, func(c *conn) error {
		_, err := c.number("PRAGMA max_page_count = 100000")
		return err
	})
}

// fillUp accepts messages until that is refused, and returns the number of the
// refused one.
func fillUp(ctx context.Context, s *Store) (int, error) {
	for i := 0; ; i++ {
		m, h := message(i, fmt.Sprintf("task-%d", i))
		m.Body = bytes.Repeat([]byte("x"), 20_000)
		if err := s.Accept(ctx, m, h); err != nil || i > 10_000 {
			return i, err
		}
	}
}

// fullThenRoom checks what a store can do when it is full, and again after room was made.
func fullThenRoom(ctx context.Context, s *Store, room func() error) error {
	refused, err := fillUp(ctx, s)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), s.Path()) {
		return fmt.Errorf("message %d: %w, want ErrFull and the path", refused, err)
	}
	m, h := message(refused, fmt.Sprintf("task-%d", refused))
	if _, err := s.Message(ctx, m.Key); !errors.Is(err, ErrUnknown) {
		return fmt.Errorf("the refused message is there: %w", err)
	}
	last, lastHead := message(refused-1, fmt.Sprintf("task-%d", refused-1))
	if _, err := s.Message(ctx, last.Key); err != nil {
		return fmt.Errorf("read on a full disk: %w", err)
	}
	if err := room(); err != nil {
		return err
	}
	if err := s.Accept(ctx, m, h); err != nil {
		return fmt.Errorf("accept after room was made: %w", err)
	}
	lastHead.Ended = true
	if err := s.Write(ctx, Change{Head: &lastHead, Ended: []string{last.Job}}); err != nil {
		return err
	}
	return s.Check(ctx)
}

func TestFullDatabase(t *testing.T) {
	s := open(t, Config{MaxPages: 200})
	must(t, fullThenRoom(t.Context(), s, func() error { return unpaged(s) }))
}

// TestFullDisk has a disk that fills up under the log: for the child, the limit
// on the size of files is one.
func TestFullDisk(t *testing.T) {
	c := startChild(t, "limited", t.TempDir())
	equal(t, c.line(), "fine")
}

func childLimited() {
	s := childOpen()
	limit := func(bytes uint64) error {
		var now unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &now); err != nil {
			return err
		}
		return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: now.Max})
	}
	err := limit(1 << 20)
	if err == nil {
		err = fullThenRoom(context.Background(), s, func() error { return limit(1 << 30) })
	}
	if err = errors.Join(err, s.Close()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("fine")
}

func TestReserve(t *testing.T) {
	s := open(t, Config{Reserve: 1 << 60})
	ctx := t.Context()
	m, h := message(1, "task")
	wantErr(t, s.Accept(ctx, m, h), ErrFull)
	wantErr(t, s.Replace(ctx, m, h), ErrFull)
	must(t, s.Write(ctx, Change{Head: &h})) // what runs goes on
}

// TestRoom: what is asked beforehand is what the store asks.
func TestRoom(t *testing.T) {
	free, all, asked := int64(16<<20), int64(1<<30), error(nil)
	var mu sync.Mutex // the writer asks, too
	s := open(t, Config{Space: func(string) (int64, int64, error) {
		mu.Lock()
		defer mu.Unlock()
		return free, all, asked
	}})
	sent := 0
	for _, tt := range []struct {
		free, all int64
		asked     error
		says      string
	}{
		{16 << 20, 1 << 30, nil, ""},
		{13 << 20, 1 << 30, nil, "its disk has 13 MiB left, and 16 MiB are kept for turns that run: free some space on it"},
		{12 << 20, 12 << 20, nil, "its disk has 12 MiB in all, and 16 MiB of it are kept free for turns that run: no message is ever accepted on it, use a larger one"},
		{0, 0, unix.EIO, "input/output error"},
		{17 << 20, 1 << 30, nil, ""},
	} {
		mu.Lock()
		free, all, asked = tt.free, tt.all, tt.asked
		mu.Unlock()
		sent++
		m, h := message(sent, fmt.Sprintf("task-%d", sent))
		accepted, room := s.Accept(t.Context(), m, h), s.Room()
		switch {
		case fmt.Sprint(accepted) != fmt.Sprint(room):
			t.Errorf("%d MiB free: a message is answered %v, and who asks %v", tt.free>>20, accepted, room)
		case tt.says == "" && room != nil, tt.says != "" && (room == nil || !strings.Contains(room.Error(), tt.says)):
			t.Errorf("%d MiB of %d free: %v, want %q", tt.free>>20, tt.all>>20, room, tt.says)
		case tt.says != "" && tt.asked == nil:
			wantErr(t, room, ErrFull)
		}
	}
	must(t, RoomIn(t.TempDir()))
	wantErr(t, RoomIn("/no/such/directory"), os.ErrNotExist)
}

// TestLargeOneInGroup has a group that does not fit as a whole.
func TestLargeOneInGroup(t *testing.T) {
	s := open(t, Config{MaxPages: 200})
	ctx := t.Context()
	group := hold(t, s)
	large, largeHead := message(1, "large")
	large.Body = make([]byte, 2<<20)
	outcome := make(chan error, 1)
	go func() { outcome <- s.Accept(ctx, large, largeHead) }()
	group.waitFor(1)
	small, smallHead := message(2, "small")
	fits := make(chan error, 1)
	go func() { fits <- s.Accept(ctx, small, smallHead) }()
	group.waitFor(2)
	group.release()
	wantErr(t, <-outcome, ErrFull)
	must(t, <-fits)
	must(t, second(s.Message(ctx, small.Key)))
	wantErr(t, second(s.Message(ctx, large.Key)), ErrUnknown)
}

// TestNoRoomBeside: codex's conversations lie on another disk, which is full.
func TestNoRoomBeside(t *testing.T) {
	full := false
	s := open(t, Config{Also: []string{"/home/codex", "/not/there"}, Space: func(dir string) (int64, int64, error) {
		switch {
		case dir == "/not/there":
			return 0, 0, os.ErrNotExist
		case dir == "/home/codex" && full:
			return reserved - 1, 1 << 30, nil
		}
		return 1 << 30, 1 << 30, nil
	}})
	must(t, s.Room())
	full = true
	err := s.Room()
	wantErr(t, err, ErrFull)
	if !strings.Contains(err.Error(), "/home/codex") {
		t.Errorf("it does not say where: %v", err)
	}
	m, head := message(1, "task")
	wantErr(t, s.Accept(t.Context(), m, head), ErrFull)
}
