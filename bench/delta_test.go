package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkDelta is the CPU time that our process, and it alone, spends on a
// delta of 8 bytes, the turn's own share included: in turns of deltas that codex
// writes as fast as it can, and in one where a delta comes each millisecond, so
// that each costs the wake-ups, too. Nobody reads along, or one does. What
// overflows the queue behind codex is cheaper, so there must be little of it.
func BenchmarkDelta(b *testing.B) {
	const fast, slow, size = 20_000, 4_000, 8
	p := progtest.Start(b, program, fakeSettings(b, "turn slow-text 1")...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.checked()
	flood, flooded := fmt.Sprintf("!flood %d %d", fast, size), strings.Repeat("x", fast*size)
	paced := strings.TrimSpace(strings.Repeat("1234567 ", slow))
	blocking := func(text, want string) { ours.send(text, want) }
	streaming := func(text, want string) { ours.stream(text, want) }
	for _, run := range []struct {
		name       string
		send       func(text, want string)
		text, want string
		deltas     int
		turns      int
	}{
		{"burst/send", blocking, flood, flooded, fast, 25},
		{"burst/stream", streaming, flood, flooded, fast, 25},
		{"paced/send", blocking, paced, paced, slow, 1},
		{"paced/stream", streaming, paced, paced, slow, 1},
	} {
		run.send("!flood 1000 8", strings.Repeat("x", 8000)) // warm
		dropped := ours.dropped()
		before := progtest.CPU(b, p.Pid())
		for range run.turns {
			run.send(run.text, run.want)
		}
		spent := progtest.CPU(b, p.Pid()) - before
		all := run.deltas * run.turns
		row(b, run.name, "cpu-µs/delta", us(spent)/float64(all), "overflow-%", 100*float64(ours.dropped()-dropped)/float64(all))
	}
}

// BenchmarkLongTurn is what a delta adds to the time of a turn over the bare
// app-server, in turns of many deltas that the model sends as fast as codex
// takes them. Each pair of turns has contexts of its own, so that no history
// grows.
func BenchmarkLongTurn(b *testing.B) {
	const turns, deltas = 100, 5_000
	p := sides(b)
	ours, direct := p.ours, p.direct
	text := fmt.Sprintf("stream %d %d", deltas, wireSize)
	want := pieces(deltas)
	took := series{}
	for n := range turns + 2 {
		c := ours.in(fmt.Sprintf("context-%d", n))
		direct.open()
		direct.turn("say hello", "hello")
		c.send("say hello", "hello")
		var bareWhole, whole time.Duration
		shuffled(func() { _, bareWhole = direct.turn(text, want) }, func() { _, whole = c.stream(text, want) })
		if n < 2 { // warm
			continue
		}
		took.add("bare", bareWhole)
		took.add("stream", whole)
	}
	took.report(b, "bare", "stream")
	row(b, "added-stream", "paired-µs/delta", us(took.paired("stream", "bare"))/deltas)
}
