package bench

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const (
	fanoutDeltas = 600_000 // more bytes than the kernel keeps for a reader that stalls
	fanoutSize   = 8
	fanoutPiece  = "xxxxxxxx"
)

// BenchmarkFanOut is how many deltas of 8 bytes a second go from a codex that
// writes as fast as it can through us to every one of 1 and 16 SSE readers, and
// to 16 beside one that has stopped reading. The readers, codex and we share
// the machine. Each reader counts the text; one that has too little or too much
// fails the run. What codex writes faster than we take it overflows the queue
// behind it and comes with the item's end: those deltas do not count.
func BenchmarkFanOut(b *testing.B) {
	p := progtest.Start(b, program, fakeSettings(b, "")...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.checked()
	kinds := []struct {
		name    string
		readers int
		stalled bool
	}{{"1-reader", 1, false}, {"16-readers", 16, false}, {"16-readers-and-1-stalled", 16, true}}
	const rounds = 5 // so that all kinds see the same machine
	each := make([]sample, len(kinds))
	cpu := make([]sample, len(kinds))
	lost := make([]float64, len(kinds))
	for range rounds {
		for i, kind := range kinds {
			dropped := ours.dropped()
			before := progtest.CPU(b, p.Pid())
			took := fanOut(ours, kind.readers, kind.stalled)
			cpu[i].add(progtest.CPU(b, p.Pid()) - before)
			dropped = ours.dropped() - dropped
			each[i].add(took / time.Duration(fanoutDeltas-dropped))
			lost[i] += float64(dropped) / fanoutDeltas / rounds
		}
	}
	for i, kind := range kinds {
		row(b, kind.name,
			"deltas/s", 1e9/float64(each[i].quantile(.5).Nanoseconds()),
			"cpu-µs/delta", us(cpu[i].quantile(.5))/fanoutDeltas,
			"overflow-%", 100*lost[i])
	}
}

// dropped returns how many deltas did not fit into the queue behind codex.
func (c *client) dropped() int {
	c.b.Helper()
	page, _ := c.get("/readyz")
	found := regexp.MustCompile(`"deltasDropped":\s*(\d+)`).FindStringSubmatch(page)
	if found == nil {
		c.b.Fatalf("no deltasDropped in %s", page)
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// fanOut runs one turn for n readers, and perhaps one that stalls, and returns
// the time from the first text anywhere to the end of the last reader.
func fanOut(ours *client, n int, stall bool) time.Duration {
	b := ours.b
	// A turn before it holds the task back until all readers are there.
	_, gate := ours.begin("!hang")
	body, id := ours.begin(fmt.Sprintf("!flood %d %d", fanoutDeltas, fanoutSize))
	bodies := []io.Reader{body}
	for range n - 1 {
		reader, _ := newClient(b, ours.url, ours.contextID, 0).join(id)
		bodies = append(bodies, reader)
	}
	var stalled io.Closer
	if stall {
		_, stalled = newClient(b, ours.url, ours.contextID, 4096).join(id)
	}
	readings := make([]reading, n)
	var wg sync.WaitGroup
	for i, body := range bodies {
		wg.Go(func() { readings[i] = drain(body) })
	}
	_ = ours.call("CancelTask", map[string]any{"id": gate}).Close()
	wg.Wait()
	if stall {
		if page, _ := ours.get("/metrics"); !strings.Contains(page, "streams_open 1\n") {
			b.Error("the reader that was to stall has got everything")
		}
		_ = stalled.Close()
	}
	first, end := readings[0].first, readings[0].end
	for _, r := range readings {
		r.check(b)
		if r.first.Before(first) {
			first = r.first
		}
		if r.end.After(end) {
			end = r.end
		}
	}
	return end.Sub(first)
}

// A reading is what one reader has got, and when.
type reading struct {
	first, end time.Time
	all        []byte
	err        error
}

// drain reads a stream to its end, with as little effort as possible.
func drain(r io.Reader) (got reading) {
	got.all = make([]byte, 0, 2*fanoutDeltas*fanoutSize)
	for {
		if cap(got.all)-len(got.all) < 64<<10 {
			got.all = append(got.all, make([]byte, 1<<20)...)[:len(got.all)]
		}
		n, err := r.Read(got.all[len(got.all):cap(got.all)])
		piece := got.all[len(got.all) : len(got.all)+n]
		got.all = got.all[:len(got.all)+n]
		if got.first.IsZero() && bytes.Contains(piece, []byte(fanoutPiece)) {
			got.first = time.Now()
		}
		if err != nil {
			got.end = time.Now()
			if err != io.EOF {
				got.err = err
			}
			return got
		}
	}
}

func (r reading) check(b *testing.B) {
	b.Helper()
	text, _ := countText(bytes.NewReader(r.all)) // a buffer has no errors
	if r.err != nil || text != fanoutDeltas*fanoutSize || bytes.Count(r.all, []byte("TASK_STATE_COMPLETED")) != 1 {
		b.Errorf("a reader got %d bytes of %d, and at last %.500s: %v", text, fanoutDeltas*fanoutSize, r.all[max(0, len(r.all)-500):], r.err)
	}
}
