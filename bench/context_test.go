package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkContext is what a context costs that is new: its first turn against
// its second, and the same on the bare app-server, where a new context is
// thread/start. A context that was unloaded is resumed by its next turn, after
// another was unloaded for it.
func BenchmarkContext(b *testing.B) {
	const contexts = 40
	p := sides(b, "RUNTIME_MAX_THREADS=100")
	ours, direct := p.ours, p.direct
	took := series{}
	for n := range contexts + 2 {
		c := ours.in(fmt.Sprintf("context-%d", n))
		began := time.Now()
		direct.open()
		direct.turn("say hello", "hello")
		opened := time.Since(began)
		one := c.send("say hello", "hello")
		_, again := direct.turn("say hello", "hello")
		two := c.send("say hello", "hello")
		if n < 2 { // warm
			continue
		}
		took.add("bare-first-turn", opened)
		took.add("first-turn", one)
		took.add("bare-second-turn", again)
		took.add("second-turn", two)
	}
	crowded := newClient(b, progtest.Start(b, program, append(realSettings(b, fakemodel.Keywords), "RUNTIME_MAX_THREADS=1")...).URL, "", 0)
	crowded.ready()
	for n := range contexts {
		whole := crowded.in(fmt.Sprintf("context-%d", n%2)).send("say hello", "hello")
		if n >= 2 {
			took.add("resumed-turn", whole)
		}
	}
	took.report(b, "first-turn", "second-turn", "bare-first-turn", "bare-second-turn", "resumed-turn")
	row(b, "new-context", "paired-ms", ms(took.paired("first-turn", "second-turn")))
	row(b, "bare-new-thread", "paired-ms", ms(took.paired("bare-first-turn", "bare-second-turn")))
	row(b, "added-first-turn", "paired-ms", ms(took.paired("first-turn", "bare-first-turn")))
}
