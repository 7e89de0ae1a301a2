package bench

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

var otherProgram = flag.String("against", "", "the path of another built program, which BenchmarkAgainst measures beside this one")

// BenchmarkAgainst is what this program takes beside another one, such as itself before a
// change: both run at the same time, and take turns in an order of chance, so that what the
// machine does is done to both. Each row has the value of the other one (before), of this one
// (after), and how many times the other's this one's is, with the interval in which that lies
// in 95 of 100 cases, by resampling.
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
	const rounds, each, warm = 120, 20, 200
	before, after := newSpanned(b, *otherProgram, warm), newSpanned(b, program, warm)
	spent := [2]values{}
	for range rounds {
		for i, s := range []*spanned{before, after} {
			spent[i] = append(spent[i], -ms(progtest.CPU(b, s.Pid()))/(2*each))
		}
		for range each {
			shuffled(before.send, after.send)
			shuffled(before.stream, after.stream)
		}
		for i, s := range []*spanned{before, after} {
			spent[i][len(spent[i])-1] += ms(progtest.CPU(b, s.Pid())) / (2 * each)
		}
	}
	before.fold()
	after.fold()
	for _, name := range []string{"send", "stream", "first-text"} {
		one, two := before.took[name].values(), after.took[name].values()
		compared(b, name, "p50-ms", .5, one, two)
		compared(b, name, "p99-ms", .99, one, two)
	}
	compared(b, "turn", "cpu-ms", .5, spent[0], spent[1])
}

// againstDelta measures the CPU time of our process for a delta of a turn that codex writes as fast as it can.
func againstDelta(b *testing.B) {
	const rounds, deltas, size = 40, 20_000, 8
	text, want := fmt.Sprintf("!flood %d %d", deltas, size), strings.Repeat("x", deltas*size)
	took := map[string]*[2]values{"send": {}, "stream": {}}
	var all []func()
	for i, binary := range []string{*otherProgram, program} {
		p := progtest.Start(b, binary, fakeSettings(b, "turn slow-text 1")...)
		ours := newClient(b, p.URL, "bench", 0)
		ours.checked()
		ours.send(text, want) // warm
		for name, turn := range map[string]func(){
			"send": func() { ours.send(text, want) }, "stream": func() { ours.stream(text, want) },
		} {
			all = append(all, func() {
				began := progtest.CPU(b, p.Pid())
				turn()
				took[name][i] = append(took[name][i], us(progtest.CPU(b, p.Pid())-began)/deltas)
			})
		}
	}
	for range rounds {
		shuffled(all...)
	}
	for name, t := range took {
		compared(b, name, "cpu-µs/delta", .5, t[0], t[1])
	}
}

// againstMemory measures the resident set of our process: idle beside a real codex, and with 1,000 known
// contexts.
func againstMemory(b *testing.B) {
	const rounds, known = 7, 1000
	idle, many := [2]values{}, [2]values{}
	settled := func(p *progtest.Program) float64 {
		time.Sleep(quiet)
		rss, _ := progtest.Memory(b, p.Pid())
		p.Stop()
		return mib(rss)
	}
	for range rounds {
		for i, binary := range []string{*otherProgram, program} {
			p := progtest.Start(b, binary, realSettings(b, fakemodel.Keywords)...)
			newClient(b, p.URL, "", 0).ready()
			idle[i] = append(idle[i], settled(p))
			p = progtest.Start(b, binary, fakeSettings(b, "")...)
			ours := newClient(b, p.URL, "", 0)
			ours.checked()
			for n := range known {
				ours.in(fmt.Sprintf("context-%d", n)).send("hello", "hello")
			}
			many[i] = append(many[i], settled(p))
		}
	}
	compared(b, "idle", "rss-MiB", .5, idle[0], idle[1])
	compared(b, fmt.Sprintf("%d-known", known), "rss-MiB", .5, many[0], many[1])
}

// againstStart measures the time from the start of the process to the first 200.
func againstStart(b *testing.B) {
	const rounds = 60
	settings := realSettings(b, fakemodel.Keywords)
	healthz, readyz := [2]values{}, [2]values{}
	start := func(i int, binary string) func() {
		return func() {
			p := progtest.Start(b, binary, settings...)
			ours := newClient(b, p.URL, "", 0)
			if page, status := ours.get("/healthz"); status != http.StatusOK {
				b.Fatalf("/healthz: %d %s", status, page)
			}
			healthz[i] = append(healthz[i], ms(time.Since(p.Born)))
			ours.ready()
			readyz[i] = append(readyz[i], ms(time.Since(p.Born)))
			p.Stop()
		}
	}
	for range rounds {
		shuffled(start(0, *otherProgram), start(1, program))
	}
	compared(b, "healthz", "p50-ms", .5, healthz[0], healthz[1])
	compared(b, "readyz", "p50-ms", .5, readyz[0], readyz[1])
}

// values are what was measured, in one unit.
type values []float64

func (s sample) values() (all values) {
	for _, d := range s {
		all = append(all, ms(d))
	}
	return all
}

// quantile returns the smallest value that a share q of them does not exceed.
func (v values) quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// resampled draws as many of the values, each again and again.
func (v values) resampled() values {
	drawn := make(values, len(v))
	for i := range drawn {
		drawn[i] = v[rand.IntN(len(v))]
	}
	return drawn
}

// compared writes a row of a quantile of both.
func compared(b *testing.B, name, unit string, q float64, before, after values) {
	b.Helper()
	var times values
	for range 400 {
		times = append(times, after.resampled().quantile(q)/before.resampled().quantile(q))
	}
	one, two := before.quantile(q), after.quantile(q)
	row(b, name+"/"+unit, "before", one, "after", two, "times", two/one, "times-from", times.quantile(.025), "times-to", times.quantile(.975))
}
