package bench

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const (
	outputTasks   = 20
	outputReaders = 3 // of each task
	outputDeltas  = 8 << 20 / outputPiece
	outputPiece   = 64
	outputRounds  = 3
)

// BenchmarkOutputs is the largest resident set of our process over 20 turns at the
// same time, of 8 MiB of text each, with three readers each, and how long they take:
// as the program comes, as it is with its soft limit of memory taken away, and as it
// comes with two readers of each task who are far too slow, and do not count.
func BenchmarkOutputs(b *testing.B) {
	sides := []struct {
		name     string
		settings []string
		slow     int
	}{{"as-it-comes", nil, 0}, {"without-a-limit", []string{"GOGC=600", "GOMEMLIMIT=off"}, 0}, {"slow-readers", nil, 2}}
	peak, took := make([]int, len(sides)), make([]sample, len(sides))
	for range outputRounds {
		for i, side := range sides {
			rss, d := outputs(b, side.settings, side.slow)
			peak[i] = max(peak[i], rss)
			took[i].add(d)
		}
	}
	for i, side := range sides {
		row(b, side.name, "peak-rss-MiB", mib(peak[i]), "p50-ms", ms(took[i].quantile(.5)))
	}
	row(b, "ratio", "times", float64(took[0].quantile(.5))/float64(took[1].quantile(.5)))
}

// outputs starts a program, has the turns run, and returns its largest resident set
// and the time from the first turn's start to the end of the last reader who is not slow.
func outputs(b *testing.B, settings []string, slow int) (rss int, took time.Duration) {
	b.Helper()
	settings = append(fakeSettings(b, ""), settings...)
	p := progtest.Start(b, program, append(settings, fmt.Sprintf("RUNTIME_MAX_TURNS=%d", outputTasks), fmt.Sprintf("RUNTIME_MAX_THREADS=%d", outputTasks))...)
	defer p.Stop()
	ours := newClient(b, p.URL, "", 0)
	ours.checked()
	var bodies []io.Reader
	var gates []string
	stop := make(chan struct{})
	defer close(stop)
	for i := range outputTasks {
		in := ours.in(fmt.Sprintf("context-%d", i))
		_, gate := in.begin("!hang")
		gates = append(gates, gate)
		body, id := in.begin(fmt.Sprintf("!flood %d %d", outputDeltas, outputPiece))
		bodies = append(bodies, body)
		for n := range outputReaders - 1 {
			if n < slow {
				body, _ := newClient(b, p.URL, in.contextID, 4096).join(id)
				go dawdle(body, stop)
				continue
			}
			body, _ := in.join(id)
			bodies = append(bodies, body)
		}
	}
	counts, errs := make([]int, len(bodies)), make([]error, len(bodies))
	var wg sync.WaitGroup
	for i, body := range bodies {
		wg.Go(func() { counts[i], errs[i] = countText(body) })
	}
	began := time.Now()
	for _, gate := range gates {
		_ = ours.call("CancelTask", map[string]any{"id": gate}).Close()
	}
	wg.Wait()
	took = time.Since(began)
	for i, n := range counts {
		if n != outputDeltas*outputPiece || errs[i] != nil {
			b.Errorf("reader %d got %d bytes of %d: %v", i, n, outputDeltas*outputPiece, errs[i])
		}
	}
	return progtest.PeakMemory(b, p.Pid()), took
}

// dawdle reads a hundred KiB a second until it is told to stop: never so little that it
// is dropped.
func dawdle(r io.Reader, stop <-chan struct{}) {
	for tick := time.Tick(10 * time.Millisecond); ; {
		select {
		case <-stop:
			return
		case <-tick:
			if _, err := io.CopyN(io.Discard, r, 1<<10); err != nil {
				return
			}
		}
	}
}

// countText reads a stream to its end and counts the letters x that its texts consist of:
// those at the beginning of a string that is a member's value. Nothing else begins with one.
func countText(r io.Reader) (n int, err error) {
	const colon, quote = 1, 2
	buf := make([]byte, 64<<10)
	for seen := 0; ; {
		got, err := r.Read(buf)
		for _, c := range buf[:got] {
			switch {
			case c == 'x' && seen == quote:
				n++
			case c == '"' && seen == colon:
				seen = quote
			case c == ':':
				seen = colon
			default:
				seen = 0
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
