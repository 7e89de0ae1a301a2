package bench

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

var otherProgram = flag.String("against", "", "the path of another built program, which BenchmarkAgainst measures beside this one")

// BenchmarkAgainst is what this program takes beside another one, such as itself before a
// change. Both take turns in an order of chance, so that what the machine does is done to both. Each row has
// the value of the other one (before), of this one (after), and after divided by before, with the interval in which
// that lies in 95 of 100 cases, by resampling pairs of processes.
func BenchmarkAgainst(b *testing.B) {
	if *otherProgram == "" {
		b.Skip("there is no other program: make bench-against says which")
	}
	b.Run("spans", againstSpans)
	b.Run("delta", againstDelta)
	b.Run("memory", againstMemory)
	b.Run("start", againstStart)
}

// againstSpans measures our own share of turns, and the CPU time of our process for one.
func againstSpans(b *testing.B) {
	const most, rounds, each, warm = 8, 15, 20, 100
	took := map[string]duels{}
	for range most {
		sides := [2]*spanned{newSpanned(b, *otherProgram, warm), newSpanned(b, program, warm)}
		var spent duel
		for range rounds {
			var began [2]time.Duration
			for i, s := range sides {
				began[i] = progtest.CPU(b, s.Pid())
			}
			for range each {
				shuffled(sides[0].send, sides[1].send)
				shuffled(sides[0].stream, sides[1].stream)
			}
			for i, s := range sides {
				spent[i] = append(spent[i], ms(progtest.CPU(b, s.Pid())-began[i])/(2*each))
			}
		}
		took["cpu"] = append(took["cpu"], spent)
		for _, s := range sides {
			s.fold()
			s.Stop()
		}
		for _, name := range []string{"send", "stream", "first-text"} {
			took[name] = append(took[name], duel{sides[0].took[name].values(), sides[1].took[name].values()})
		}
	}
	for _, name := range []string{"send", "stream", "first-text"} {
		took[name].compared(b, name, "p50-ms", .5)
		took[name].compared(b, name, "p99-ms", .99)
	}
	took["cpu"].compared(b, "turn", "cpu-ms", .5)
}

// againstDelta measures the CPU time of our process for a delta of a turn that codex writes as fast as it can.
func againstDelta(b *testing.B) {
	const most, rounds, deltas, size = 8, 12, 20_000, 8
	text, want := fmt.Sprintf("!flood %d %d", deltas, size), strings.Repeat("x", deltas*size)
	var send, stream duels
	for range most {
		var sent, streamed duel
		var all []func()
		var both []*progtest.Program
		for i, binary := range []string{*otherProgram, program} {
			p := progtest.Start(b, binary, fakeSettings(b, "turn slow-text 1")...)
			ours := newClient(b, p.URL, "bench", 0)
			ours.checked()
			ours.send(text, want) // warm
			spent := func(to *values, turn func()) func() {
				return func() {
					began := progtest.CPU(b, p.Pid())
					turn()
					*to = append(*to, us(progtest.CPU(b, p.Pid())-began)/deltas)
				}
			}
			all = append(all, spent(&sent[i], func() { ours.send(text, want) }), spent(&streamed[i], func() { ours.stream(text, want) }))
			both = append(both, p)
		}
		for range rounds {
			shuffled(all...)
		}
		for _, p := range both {
			p.Stop()
		}
		send, stream = append(send, sent), append(stream, streamed)
	}
	send.compared(b, "send", "cpu-µs/delta", .5)
	stream.compared(b, "stream", "cpu-µs/delta", .5)
}

// againstMemory measures the resident set of our process: idle beside a real codex, and with 1,000 known
// contexts.
func againstMemory(b *testing.B) {
	const most, known = 7, 1000
	settled := func(p *progtest.Program) values {
		time.Sleep(quiet)
		rss, _ := progtest.Memory(b, p.Pid())
		p.Stop()
		return values{mib(rss)}
	}
	var idle, many duels
	for range most {
		var one, two duel
		for _, i := range chance.Perm(2) {
			binary := [2]string{*otherProgram, program}[i]
			p := progtest.Start(b, binary, realSettings(b, fakemodel.Keywords)...)
			newClient(b, p.URL, "", 0).ready()
			one[i] = settled(p)
			p = progtest.Start(b, binary, fakeSettings(b, "")...)
			ours := newClient(b, p.URL, "", 0)
			ours.checked()
			for n := range known {
				ours.in(fmt.Sprintf("context-%d", n)).send("hello", "hello")
			}
			two[i] = settled(p)
		}
		idle, many = append(idle, one), append(many, two)
	}
	idle.compared(b, "idle", "rss-MiB", .5)
	many.compared(b, fmt.Sprintf("%d-known", known), "rss-MiB", .5)
}

// againstStart measures the time from the start of the process to the first 200.
func againstStart(b *testing.B) {
	const most = 60
	settings := realSettings(b, fakemodel.Keywords)
	var healthz, readyz duels
	for range most {
		var alive, ready duel
		start := func(i int, binary string) func() {
			return func() {
				p := progtest.Start(b, binary, settings...)
				ours := newClient(b, p.URL, "", 0)
				if page, status := ours.get("/healthz"); status != http.StatusOK {
					b.Fatalf("/healthz: %d %s", status, page)
				}
				alive[i] = values{ms(time.Since(p.Born))}
				ours.ready()
				ready[i] = values{ms(time.Since(p.Born))}
				p.Stop()
			}
		}
		shuffled(start(0, *otherProgram), start(1, program))
		healthz, readyz = append(healthz, alive), append(readyz, ready)
	}
	healthz.compared(b, "healthz", "p50-ms", .5)
	readyz.compared(b, "readyz", "p50-ms", .5)
}

// A duel is what was measured of two processes beside each other, before and after. Two processes of one program
// differ by some percent, each as long as it lives: several duels tell more than many values of one.
type (
	duel   [2]values
	duels  []duel
	values []float64 // in one unit
)

func (s sample) values() (all values) {
	for _, d := range s {
		all = append(all, ms(d))
	}
	return all
}

// quantiles are those of all values before, and after.
func (p duels) quantiles(q float64) (before, after float64) {
	var all duel
	for _, one := range p {
		all[0], all[1] = append(all[0], one[0]...), append(all[1], one[1]...)
	}
	return quantile(all[0], q), quantile(all[1], q)
}

// resampled draws as many of the duels, each again and again.
func (p duels) resampled() duels {
	drawn := make(duels, len(p))
	for i := range drawn {
		drawn[i] = p[rand.IntN(len(p))]
	}
	return drawn
}

// compared writes a row of a quantile.
func (p duels) compared(b *testing.B, name, unit string, q float64) {
	b.Helper()
	var times values
	for range 400 {
		before, after := p.resampled().quantiles(q)
		times = append(times, after/before)
	}
	before, after := p.quantiles(q)
	row(b, name+"/"+unit, "before", before, "after", after, "times", after/before, "times-from", quantile(times, .025), "times-to", quantile(times, .975))
}
