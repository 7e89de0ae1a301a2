package logging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pager shows what is written to it as far as it is asked to: each write waits for a
// turn, or for its end.
type pager struct {
	turns chan struct{}
	mu    sync.Mutex
	bytes.Buffer
}

func (p *pager) Write(b []byte) (int, error) {
	<-p.turns
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Buffer.Write(b)
}

// line is a line of so many bytes.
func line(of string, bytes int) []byte {
	return []byte(of + strings.Repeat(".", bytes-len(of)-1) + "\n")
}

// TestNothingWaitsForTheReader: where the reader stands still lines are dropped, and the
// first one after those that were queued says how many.
func TestNothingWaitsForTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{turns: make(chan struct{})}
		q := NewQueue(p)
		_, _ = q.Write([]byte("first\n"))
		synctest.Wait() // it is being written
		large := mostQueued / 4
		for i := range 10 {
			_, _ = q.Write(line(fmt.Sprint(i), large))
		}
		for range 4 { // there is room again, but not for what comes behind those that were dropped
			p.turns <- struct{}{}
		}
		synctest.Wait()
		_, _ = q.Write([]byte("an eleventh\n"))
		close(p.turns)
		synctest.Wait()
		_, _ = q.Write([]byte("after\n"))
		q.Close()
		var got []string
		for l := range strings.Lines(p.String()) {
			got = append(got, strings.TrimRight(l, ".\n"))
		}
		notice, want := `"level":"WARN","msg":"lines of the log were dropped: what reads the log stood still","lines":7}`, "first 0 1 2 3 notice after"
		if len(got) == 7 && strings.HasSuffix(got[5], notice) {
			got[5] = "notice"
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	})
}

// TestTheEndOfAQueue writes what is queued, and is not kept waiting.
func TestTheEndOfAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{turns: make(chan struct{})}
		q := NewQueue(p)
		_, _ = q.Write([]byte("a\n"))
		_, _ = q.Write([]byte("b\n"))
		began := time.Now()
		q.Close()
		if took := time.Since(began); took != flushTimeout {
			t.Errorf("the end took %v where nothing is read", took)
		}
		_, _ = q.Write([]byte("c\n"))
		close(p.turns)
		q.Close()
		if time.Since(began) != flushTimeout || p.String() != "a\nb\n" {
			t.Errorf("%q after %v", p.String(), time.Since(began))
		}
	})
}

// A disk takes so many bytes, and then none until there is more room.
type disk struct {
	room int
	bytes.Buffer
}

func (d *disk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	_, _ = d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errors.New("no room")
	}
	return n, nil
}

// TestNoLineIsTorn by a write that fails in the middle.
func TestNoLineIsTorn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		q := NewQueue(d)
		for i, room := range []int{3, 1, 0, 1000} {
			d.room = room
			_, _ = fmt.Fprintf(q, "line %d\n", i)
			synctest.Wait()
		}
		q.Close()
		first, rest, _ := strings.Cut(d.String(), "\n")
		notice, last, _ := strings.Cut(rest, "\n")
		if first != "line 0" || !strings.HasSuffix(notice, `"lines":2}`) || last != "line 3\n" {
			t.Errorf("%q", d.String())
		}
	})
}

// TestQueueOfALogger: the handler keeps its bytes for the next line.
func TestQueueOfALogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{turns: make(chan struct{})}
		q := NewQueue(p)
		log := New(q, slog.LevelInfo, nil)
		for i := range 100 {
			log.Info("m", "i", i)
		}
		close(p.turns)
		q.Close()
		i := 0
		for l := range strings.Lines(p.String()) {
			if !strings.HasSuffix(l, fmt.Sprintf(`"i":%d}`+"\n", i)) {
				t.Errorf("line %d: %s", i, l)
			}
			i++
		}
		if i != 100 {
			t.Errorf("%d lines", i)
		}
	})
}

// TestQueueInFrontOfATerminal gets colour as the terminal does.
func TestQueueInFrontOfATerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	for _, to := range []io.Writer{terminal, io.Discard} {
		q := NewQueue(to)
		if IsTerminal(q) != IsTerminal(to) {
			t.Errorf("%T: not as without a queue", to)
		}
		q.Close()
	}
}
