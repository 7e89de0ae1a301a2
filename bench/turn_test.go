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

// sides starts what is compared: the program, and a codex with the same
// overrides and environment on the same model, and how that is started.
func sides(b *testing.B, settings ...string) (*client, *bare, adapter.Launch) {
	b.Helper()
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=key-of-the-benchmark", "OPENAI_BASE_URL=" + model.BaseURL()}
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
// app-server, of a blocking 1.0 SendMessage and of a stream, and what ours adds:
// the difference of the percentiles, and the median of the differences of
// turns that ran one after the other, each side first in turns.
func BenchmarkTurn(b *testing.B) {
	ours, direct, _ := sides(b)
	for range 10 { // warm both
		direct.turn("say warm", "warm")
		ours.send("say warm", "warm")
	}
	took := series{}
	bareSide := func(beside string) func() {
		return func() {
			first, whole := direct.turn("say hello", "hello")
			took.add("bare", whole)
			took.add("bare-first-text", first)
			took.add("bare beside "+beside, whole)
			took.add("bare-first-text beside "+beside, first)
		}
	}
	for n := range turnsEach {
		inTurns(n, bareSide("send"), func() { took.add("send", ours.send("say hello", "hello")) })
		inTurns(n, bareSide("stream"), func() {
			first, whole := ours.stream("say hello", "hello")
			took.add("stream", whole)
			took.add("stream-first-text", first)
		})
	}
	took.spread(b, "bare", "send", "stream", "bare-first-text", "stream-first-text")
	added(b, "added-send", took["send"], took["bare"], took["bare beside send"])
	added(b, "added-first-text", took["stream-first-text"], took["bare-first-text"], took["bare-first-text beside stream"])
}

// inTurns runs both, the first first if n is even.
func inTurns(n int, one, other func()) {
	if n%2 == 1 {
		one, other = other, one
	}
	one()
	other()
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
