package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// turnsEach is how many turns of each kind of ours a run has; there is one of each
// bare side beside each, so that a machine that slows down slows all down.
const turnsEach = 500

// benchKey is the model's key.
const benchKey = "key-of-the-benchmark"

// A pair is what is compared: the program, and a codex with the same overrides and
// environment on the same model.
type pair struct {
	ours    *client
	program *progtest.Program
	direct  *bare
	launch  adapter.Launch // of the bare one
}

// sides starts both.
func sides(b *testing.B, settings ...string) pair {
	b.Helper()
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=" + benchKey, "OPENAI_BASE_URL=" + model.BaseURL()}
	p := pair{launch: alike(b, model.BaseURL(), credential...)}
	p.program = progtest.Start(b, program, append(credential, settings...)...)
	p.ours = newClient(b, p.program.URL, "bench", 0)
	p.ours.ready()
	p.direct = newBare(b, p.launch)
	return p
}

// BenchmarkTurn is the whole turn and the time to first text of the bare
// app-server, of one that asks the model by way of a forwarder as ours does, of a
// blocking 1.0 SendMessage and of a stream, and what ours adds to either: the
// difference of the percentiles, and the median of the differences of turns that ran
// beside each other. And, by itself, the CPU time that each process takes for a turn.
func BenchmarkTurn(b *testing.B) {
	p := sides(b)
	p.launch.Home = codextest.Home(b)
	launch, forwarder := forwarded(b, p.launch, benchKey)
	same := newBare(b, launch)
	for range 10 { // warm all
		p.direct.turn("say warm", "warm")
		same.turn("say warm", "warm")
		p.ours.send("say warm", "warm")
	}
	took := series{}
	bareSide := func(name, beside string, d *bare) func() {
		return func() {
			first, whole := d.turn("say hello", "hello")
			took.add(name, whole)
			took.add(name+"-first-text", first)
			took.add(name+" beside "+beside, whole)
			took.add(name+"-first-text beside "+beside, first)
		}
	}
	for range turnsEach {
		shuffled(bareSide("bare", "send", p.direct), bareSide("forwarded", "send", same),
			func() { took.add("send", p.ours.send("say hello", "hello")) })
		shuffled(bareSide("bare", "stream", p.direct), bareSide("forwarded", "stream", same), func() {
			first, whole := p.ours.stream("say hello", "hello")
			took.add("stream", whole)
			took.add("stream-first-text", first)
		})
	}
	took.spread(b, "bare", "forwarded", "send", "stream", "bare-first-text", "forwarded-first-text", "stream-first-text")
	for _, to := range [...]struct{ side, suffix string }{{"bare", ""}, {"forwarded", "-to-forwarded"}} {
		added(b, "added-send"+to.suffix, took["send"], took[to.side], took[to.side+" beside send"])
		added(b, "added-first-text"+to.suffix, took["stream-first-text"], took[to.side+"-first-text"], took[to.side+"-first-text beside stream"])
	}
	codex, runtime := process{"codex-ms", p.program.Codex()}, process{"runtime-ms", p.program.Pid()}
	work(b, "cpu-bare", 200, func() { p.direct.turn("say hello", "hello") }, process{"codex-ms", p.direct.pid})
	work(b, "cpu-forwarded", 200, func() { same.turn("say hello", "hello") }, process{"codex-ms", same.pid}, process{"forwarder-ms", forwarder})
	work(b, "cpu-send", 200, func() { p.ours.send("say hello", "hello") }, codex, runtime)
	work(b, "cpu-stream", 200, func() { p.ours.stream("say hello", "hello") }, codex, runtime)
}

// A process is one that works at a turn, by the unit of its time.
type process struct {
	unit string
	pid  int
}

// work reports the CPU time that processes take for a turn, by a number of them.
func work(b *testing.B, name string, turns int, turn func(), of ...process) {
	b.Helper()
	before := make([]time.Duration, len(of))
	for i, p := range of {
		before[i] = progtest.CPU(b, p.pid)
	}
	for range turns {
		turn()
	}
	var results []any
	for i, p := range of {
		results = append(results, p.unit, ms(progtest.CPU(b, p.pid)-before[i])/float64(turns))
	}
	row(b, name, results...)
}

var chance = rand.New(rand.NewPCG(1, 2))

// shuffled runs all in an order of chance: each codex works on behind its turn, and
// whose turn comes next should not always be the same one.
func shuffled(all ...func()) {
	for _, i := range chance.Perm(len(all)) {
		all[i]()
	}
}

// added reports what ours took more than all of the bare side, and than the
// turns beside it.
func added(b *testing.B, name string, ours, bare, beside sample) {
	b.Helper()
	row(b, name,
		"p50-ms", ms(ours.quantile(.5)-bare.quantile(.5)),
		"paired-ms", ms(ours.minus(beside).quantile(.5)),
		"p99-ms", ms(ours.quantile(.99)-bare.quantile(.99)))
}
