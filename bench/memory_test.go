package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// quiet is how long memory is left alone before it is looked at.
const quiet = 2 * time.Second

// BenchmarkMemory is the proportional set size of the whole tree (the runtime,
// codex and what codex has started) with 1, 16 and 64 contexts loaded that have
// had a turn each, and the resident set of our own process: idle, with 64
// loaded, and with 1,000 contexts that it has seen on a codex that does nothing.
func BenchmarkMemory(b *testing.B) {
	p := progtest.Start(b, program, append(realSettings(b, fakemodel.Keywords), "RUNTIME_MAX_THREADS=64")...)
	ours := newClient(b, p.URL, "", 0)
	ours.ready()
	time.Sleep(quiet)
	memory(b, p, "idle")
	var one int
	done := 0
	for _, loaded := range []int{1, 16, 64} {
		for ; done < loaded; done++ {
			ours.in(fmt.Sprintf("context-%d", done)).send("say hello", "hello")
		}
		time.Sleep(quiet)
		tree := memory(b, p, fmt.Sprintf("%d-loaded", loaded))
		if loaded == 1 {
			one = tree
			continue
		}
		row(b, fmt.Sprintf("%d-loaded/context", loaded),
			"tree-pss-MiB", mib(tree)/float64(loaded), "further-pss-MiB", mib(tree-one)/float64(loaded-1))
	}
	p.Stop()

	const known = 1000
	p = progtest.Start(b, program, fakeSettings(b, "")...)
	ours = newClient(b, p.URL, "", 0)
	ours.checked()
	for n := range known {
		ours.in(fmt.Sprintf("context-%d", n)).send("hello", "hello")
	}
	time.Sleep(quiet)
	rss, pss := progtest.Memory(b, p.Pid())
	row(b, fmt.Sprintf("%d-known", known), "rss-MiB", mib(rss), "pss-MiB", mib(pss))
}

// memory reports what a program takes, the tree and codex's part of it included,
// and returns the tree.
func memory(b *testing.B, p *progtest.Program, name string) (tree int) {
	b.Helper()
	rss, pss := progtest.Memory(b, p.Pid())
	tree = progtest.TreePSS(b, p.Pid())
	row(b, name, "rss-MiB", mib(rss), "pss-MiB", mib(pss), "codex-pss-MiB", mib(tree-pss), "tree-pss-MiB", mib(tree))
	return tree
}
