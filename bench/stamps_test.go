package bench

import (
	"bufio"
	"bytes"
	encoded "encoding/binary"
	"io"
	"os"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// stampsEnv names the file to which our codex writes the moments of its turns.
const stampsEnv = "BENCH_STAMPS"

// A turnStamp is when codex had read turn/start, or the last turn/steer, was about to write the first
// delta, and was about to write turn/completed. If it has asked, also when it was
// about to write the request, and had read the answer.
type turnStamp struct{ read, delta, completed, asked, answered int64 }

// clock is a time that all processes share and nobody sets.
func clock() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // there is no Linux without it
	return now.Nano()
}

// stamp puts itself between the fake codex in this process and its client, and
// notes the moments that matter at the outer ends.
func stamp(file string) {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	stdin, stdout := os.Stdin, os.Stdout
	fromClient, toFake := pipe()
	fromFake, toClient := pipe()
	os.Stdin, os.Stdout = fromClient, toClient
	var read, answered atomic.Int64
	go func() {
		relay(stdin, func(line []byte) {
			switch {
			case bytes.Contains(line, []byte(`"turn/st`)): // start, steer
				read.Store(clock())
			case bytes.Contains(line, []byte(`"decision"`)):
				answered.Store(clock())
			}
			_, _ = toFake.Write(line)
		})
		_ = toFake.Close()
	}()
	var turn turnStamp
	go relay(fromFake, func(line []byte) {
		switch {
		case turn.delta == 0 && bytes.Contains(line, []byte(`"item/agentMessage/delta"`)):
			turn.delta = clock()
		case bytes.Contains(line, []byte(`/requestApproval"`)):
			turn.asked = clock()
		case bytes.Contains(line, []byte(`"turn/completed"`)):
			turn.read, turn.answered, turn.completed = read.Load(), answered.Load(), clock()
		}
		_, _ = stdout.Write(line)
		if turn.completed != 0 {
			_ = encoded.Write(out, encoded.LittleEndian, turn.moments())
			turn = turnStamp{}
		}
	})
}

func (t turnStamp) moments() [5]int64 {
	return [5]int64{t.read, t.delta, t.completed, t.asked, t.answered}
}

func pipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	return r, w
}

func relay(from io.Reader, line func([]byte)) {
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		line(text)
	}
}

// stamps returns the n turns in the file, once they are all there.
func stamps(b *testing.B, file string, n int) []turnStamp {
	b.Helper()
	size := n * encoded.Size([5]int64{})
	progtest.WaitFor(b, "the moments of every turn", func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() >= int64(size)
	})
	text, err := os.ReadFile(file)
	moments := make([][5]int64, n)
	if err == nil {
		err = encoded.Read(bytes.NewReader(text), encoded.LittleEndian, moments)
	}
	if err != nil || len(text) != size {
		b.Fatalf("%d bytes of stamps for %d turns: %v", len(text), n, err)
	}
	turns := make([]turnStamp, n)
	for i, m := range moments {
		turns[i] = turnStamp{m[0], m[1], m[2], m[3], m[4]}
	}
	return turns
}
