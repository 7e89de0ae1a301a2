package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const (
	wireSize = 8 // bytes of a delta
	wireTime = 5 * time.Second
)

// BenchmarkWire is how many bytes come over a reader's connection, headers and
// all, for a byte of text that the model streams through the real codex at a
// steady pace.
func BenchmarkWire(b *testing.B) {
	p := progtest.Start(b, program, realSettings(b, steady)...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.ready()
	ours.stream("10 10ms", pieces(10)) // warm
	for _, rate := range []int{50, 500, 5_000} {
		count := rate * int(wireTime.Seconds())
		before := ours.read.Load()
		first, whole := ours.stream(fmt.Sprintf("%d %s", count, wireTime), pieces(count))
		text := count * wireSize
		row(b, fmt.Sprintf("%d-a-second", rate),
			"wire-bytes/byte", float64(ours.read.Load()-before)/float64(text),
			"deltas/s", float64(count)/(whole-first).Seconds())
	}
}

// pieces is the text that steady answers with.
func pieces(count int) string {
	var all strings.Builder
	for n := range count {
		all.WriteString(fakemodel.Piece(n, wireSize))
	}
	return all.String()
}

// steady streams as many pieces over as long a time as the message says. It
// goes by the clock, so that a late piece makes no others late.
func steady(t *fakemodel.Turn) {
	var count int
	var over string
	if _, err := fmt.Sscan(t.LastUserText(), &count, &over); err != nil {
		t.Say("send a count and a duration")
		return
	}
	whole, _ := time.ParseDuration(over)
	t.OpenMessage("final_answer")
	began := time.Now()
	for n := range count {
		due := began.Add(whole * time.Duration(n) / time.Duration(count))
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
		}
		t.Delta(fakemodel.Piece(n, wireSize))
	}
	t.EndMessage("")
}
