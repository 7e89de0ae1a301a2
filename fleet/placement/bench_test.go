package placement_test

import (
	"fmt"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// large is 200 machines of 8 turns and 5,000 conversations.
func large(b testing.TB) (*placement.Placer, []string) {
	p := placement.New()
	for i := range 200 {
		p.Report(wire.Status{Name: fmt.Sprint("machine-", i), Turns: 8, Labels: map[string]string{"os": "linux", "zone": "a"}})
	}
	names := make([]string, 5000)
	for i := range names {
		names[i] = fmt.Sprint("conversation-", i)
		t := p.Place(placement.Ask{Conversation: names[i]})
		if t.Machine() == "" {
			b.Fatal(t.Waits())
		}
		t.End()
	}
	return p, names
}

// BenchmarkPlace is a turn at that size, from the ask to its end: of a conversation that is new, of one that has its machine, and
// of some that wait.
func BenchmarkPlace(b *testing.B) {
	needs := placement.Labels{"os": "linux", "zone": "a"}
	b.Run("new", func(b *testing.B) {
		p, _ := large(b)
		b.ReportAllocs()
		for b.Loop() {
			p.Place(placement.Ask{Conversation: "new", Needs: needs}).End()
			p.Forget("new")
		}
	})
	b.Run("known", func(b *testing.B) {
		p, names := large(b)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p.Place(placement.Ask{Conversation: names[i%len(names)], Needs: needs}).End()
		}
	})
	b.Run("waits", func(b *testing.B) {
		p, names := large(b)
		fill(p, names, needs)
		for i := range 5000 {
			p.Place(placement.Ask{Conversation: fmt.Sprint("waits-", i), Needs: needs})
		}
		b.ReportAllocs()
		for b.Loop() {
			p.Place(placement.Ask{Conversation: "new", Needs: needs}).End()
		}
	})
	b.Run("crowded", func(b *testing.B) { // 1,600 run and 8,400 wait: one ends, or is given up, and asks again
		p, names := large(b)
		for i := range 5000 {
			names = append(names, fmt.Sprint("more-", i))
		}
		turns := fill(p, names, needs)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			n := i % len(turns)
			turns[n].End()
			turns[n] = p.Place(placement.Ask{Conversation: names[n], Needs: needs})
		}
	})
	b.Run("apart", func(b *testing.B) { // the same where each of 5,000 that wait needs something else, which is not there
		p, names := large(b)
		turns := fill(p, names, needs)
		for i := range 5000 {
			p.Place(placement.Ask{Conversation: fmt.Sprint("more-", i), Needs: placement.Labels{"wants": fmt.Sprint(i)}})
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			n := i % len(turns)
			turns[n].End()
			turns[n] = p.Place(placement.Ask{Conversation: names[n], Needs: needs})
		}
	})
}

// fill has a turn of each conversation run, or wait.
func fill(p *placement.Placer, names []string, needs placement.Labels) (turns []*placement.Turn) {
	for _, name := range names {
		turns = append(turns, p.Place(placement.Ask{Conversation: name, Needs: needs}))
	}
	return turns
}
