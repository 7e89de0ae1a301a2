package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/linktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// An errand is a message, and what its answer has to be: the last message of it, and all
// of them together.
type errand struct{ text, last, all string }

func hello() errand { return errand{"say hello", "hello", "hello"} }

// tools has the model call a tool n times, one after the other: one that codex answers by
// itself, so that all of a call is codex's own time and the way to the model.
func tools(n int) errand {
	const answer = `{"resources":[]}`
	return errand{strings.Repeat("call list_mcp_resources {}\n", n), answer, strings.Repeat(answer, n)}
}

// lecture is a message of size bytes, which are sent again with every message after it where
// the whole conversation is.
func lecture(size int) errand {
	const filler = "a line of a long conversation, in which the model sees nothing to do\n"
	return errand{"say noted\n" + strings.Repeat(filler, size/len(filler)), "noted", "noted"}
}

// BenchmarkLink is a turn with distance between codex and its model: of a bare app-server
// over HTTP, of one over a WebSocket, and of ours.
func BenchmarkLink(b *testing.B) {
	const far = 60 * time.Millisecond
	link := func(roundTrip time.Duration) linktest.Link {
		return linktest.Link{RoundTrip: roundTrip, HTTP2: true}
	}
	for _, roundTrip := range []time.Duration{0, 10 * time.Millisecond, far, 150 * time.Millisecond} {
		b.Run(fmt.Sprintf("%dms/short", roundTrip.Milliseconds()), func(b *testing.B) {
			l := linked(b, link(roundTrip))
			l.turns(25, hello())
			l.report()
		})
	}
	b.Run("60ms/long", func(b *testing.B) {
		slow := link(far)
		slow.Uplink = 20_000_000 / 8
		l := linked(b, slow)
		l.warm(lecture(800_000))
		l.turns(8, hello())
		l.report()
	})
	b.Run("60ms/tools", func(b *testing.B) {
		l := linked(b, link(far))
		l.turns(8, tools(10))
		l.report()
	})
	b.Run("60ms/pause", func(b *testing.B) {
		closing := link(far)
		closing.IdleTimeout = 30 * time.Second
		l := linked(b, closing)
		l.pause(10, 40*time.Second)
	})
}

// turns takes n turns of each side, in an order of chance.
func (l *links) turns(n int, e errand) {
	l.b.Helper()
	for _, s := range l.sides {
		s.cpu -= progtest.WholeCPU(l.b, s.codex)
	}
	for range n {
		l.each(func(s *linkSide) {
			before := s.upstream.Traffic()
			first, whole := s.turn(e)
			now := s.upstream.Traffic()
			s.took.add(whole)
			s.first.add(first)
			s.opened += now.Connections - before.Connections
			s.up += now.Up - before.Up
		})
	}
	for _, s := range l.sides {
		s.cpu += progtest.WholeCPU(l.b, s.codex)
	}
}

// report writes a row for each side, and one for how ours stands to each other one.
func (l *links) report() {
	l.b.Helper()
	for _, s := range l.sides {
		n := float64(len(s.took))
		row(l.b, s.name, append(s.took.quantiles(),
			"first-text-ms", ms(s.first.quantile(.5)),
			"connections/turn", float64(s.opened)/n,
			"codex-ms", ms(s.cpu)/n,
			"up-kB/turn", float64(s.up)/1e3/n)...)
	}
	ours := l.sides[len(l.sides)-1]
	for _, s := range l.sides[:len(l.sides)-1] {
		times(l.b, "to-"+s.name, ours.took, s.took)
	}
}

// times writes the quotient of two medians.
func times(b *testing.B, name string, a, of sample) {
	b.Helper()
	row(b, name, "times", float64(a.quantile(.5))/float64(of.quantile(.5)))
}

// pause takes a turn in each of n conversations after a pause, and one behind it that has had none,
// and reports them.
func (l *links) pause(n int, pause time.Duration) {
	l.b.Helper()
	warm := series{}
	for i := range n {
		l.each(func(s *linkSide) {
			s.enter(i)
			s.turn(hello())
		})
	}
	time.Sleep(pause)
	for i := range n {
		l.each(func(s *linkSide) { s.enter(i) })
		l.turns(1, hello())
		l.each(func(s *linkSide) {
			_, whole := s.turn(hello())
			warm.add(s.name, whole)
		})
	}
	l.report()
	for _, s := range l.sides {
		row(l.b, s.name+"-warm", warm[s.name].quantiles()...)
		times(l.b, s.name+"-to-warm", s.took, warm[s.name])
	}
}
