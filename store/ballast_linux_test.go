package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// roomOf returns how many bytes of the disk a file has beyond its length.
func roomOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Blocks*512 - info.Size()
}

// TestBallast: the database and its log have room on the disk before they need it, again
// and again, and are no longer for it.
func TestBallast(t *testing.T) {
	s := open(t, Config{})
	if err := s.ballast.hold(); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("this file system keeps no room: ", err)
	}
	wantRoom := func() {
		t.Helper()
		log, database := roomOf(t, s.Path()+"-wal"), roomOf(t, s.Path())
		if log < ballastOfLog/2 || database < ballastOfDatabase {
			t.Errorf("there is room for %d and %d bytes", log, database)
		}
	}
	wantRoom()
	for i := range 50 {
		m, h := message(i, fmt.Sprintf("task-%d", i))
		m.Body = bytes.Repeat([]byte("x"), 100_000)
		must(t, s.Accept(t.Context(), m, h))
	}
	s.turn.Lock()
	s.checkpoint(1)
	s.turn.Unlock()
	if roomOf(t, s.Path()) >= ballastOfDatabase {
		t.Fatal("the database has not grown into its room")
	}
	s.turn.Lock()
	s.holdRoom()
	s.turn.Unlock()
	if database := roomOf(t, s.Path()); database < ballastOfDatabase {
		t.Errorf("there is room for %d bytes", database)
	}
}

// TestNoBallastOfTheLast: what is left free for what runs is not taken for that.
func TestNoBallastOfTheLast(t *testing.T) {
	s := open(t, Config{Space: func(string) (int64, int64, error) { return reserved + ballastSize - 1, 1 << 30, nil }})
	if database := roomOf(t, s.Path()); database >= ballastOfDatabase {
		t.Errorf("there is room for %d bytes", database)
	}
}
