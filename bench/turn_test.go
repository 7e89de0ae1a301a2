package bench

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// turnsEach is how many turns of each kind of ours a run has; there is one of
// the bare side before each. They alternate, so that a machine that slows down
// slows both down.
const turnsEach = 500

// benchKey is the model's key.
const benchKey = "key-of-the-benchmark"

// sides starts what is compared: the program, and a codex with the same
// overrides and environment on the same model, and how that is started.
func sides(b *testing.B, settings ...string) (*client, *bare, adapter.Launch) {
	b.Helper()
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=" + benchKey, "OPENAI_BASE_URL=" + model.BaseURL()}
	launch := adapter.Launch{
		Provider: adapter.Provider{KeyName: "OPENAI_API_KEY", BaseURL: model.BaseURL()},
		Home:     codextest.Home(b), WorkDir: codextest.Dir(b, "work"), Lean: true,
		Environ: append(progtest.Environ(b), credential...),
	}
	ours := newClient(b, progtest.Start(b, program, append(credential, settings...)...).URL, "bench", 0)
	ours.ready()
	return ours, newBare(b, launch), launch
}

// BenchmarkTurn is the whole turn and the time to first text of the bare
// app-server, of one that asks the model by way of a forwarder as ours does, of a
// blocking 1.0 SendMessage and of a stream, and what ours adds to either: the
// difference of the percentiles, and the median of the differences of turns that ran
// one after the other, each side first in turns.
func BenchmarkTurn(b *testing.B) {
	ours, direct, launch := sides(b)
	launch.Home = codextest.Home(b)
	same := newBare(b, forwarded(b, launch, benchKey))
	for range 10 { // warm all
		direct.turn("say warm", "warm")
		same.turn("say warm", "warm")
		ours.send("say warm", "warm")
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
	for n := range turnsEach {
		inTurns(n, bareSide("bare", "send", direct), bareSide("forwarded", "send", same),
			func() { took.add("send", ours.send("say hello", "hello")) })
		inTurns(n, bareSide("bare", "stream", direct), bareSide("forwarded", "stream", same), func() {
			first, whole := ours.stream("say hello", "hello")
			took.add("stream", whole)
			took.add("stream-first-text", first)
		})
	}
	took.spread(b, "bare", "forwarded", "send", "stream", "bare-first-text", "forwarded-first-text", "stream-first-text")
	for _, to := range [...]struct{ side, suffix string }{{"bare", ""}, {"forwarded", "-to-forwarded"}} {
		added(b, "added-send"+to.suffix, took["send"], took[to.side], took[to.side+" beside send"])
		added(b, "added-first-text"+to.suffix, took["stream-first-text"], took[to.side+"-first-text"], took[to.side+"-first-text beside stream"])
	}
}

// inTurns runs all, each of them first in turns.
func inTurns(n int, all ...func()) {
	for i := range all {
		all[(n+i)%len(all)]()
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
