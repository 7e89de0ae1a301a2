package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// BenchmarkContext is what a context costs that is new: its first turn against
// its second, and the same on the bare app-server, where a new context is
// thread/start. A context that was unloaded is resumed by its next turn, after
// another was unloaded for it.
func BenchmarkContext(b *testing.B) {
	const contexts = 40
	ours, direct, _ := sides(b, "RUNTIME_MAX_THREADS=100")
	var first, second, bareFirst, bareSecond, resumed sample
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
		first.add(one)
		second.add(two)
		bareFirst.add(opened)
		bareSecond.add(again)
	}
	crowded := newA2A(b, progtest.Start(b, binary, append(realSettings(b, fakemodel.Keywords), "RUNTIME_MAX_THREADS=1")...).URL, "", 0)
	crowded.ready()
	for n := range contexts {
		took := crowded.in(fmt.Sprintf("context-%d", n%2)).send("say hello", "hello")
		if n >= 2 {
			resumed.add(took)
		}
	}
	first.report(b, "first-turn")
	second.report(b, "second-turn")
	bareFirst.report(b, "bare-first-turn")
	bareSecond.report(b, "bare-second-turn")
	resumed.report(b, "resumed-turn")
	row(b, "new-context", "paired-ms", ms(first.minus(second).quantile(.5)))
	row(b, "bare-new-thread", "paired-ms", ms(bareFirst.minus(bareSecond).quantile(.5)))
	row(b, "added-first-turn", "paired-ms", ms(first.minus(bareFirst).quantile(.5)))
}
