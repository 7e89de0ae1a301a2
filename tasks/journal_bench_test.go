package tasks_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A forgetful journal keeps messages and nothing of what happens.
type forgetful struct{ tasks.Journal }

func (forgetful) Write(context.Context, store.Change) error { return nil }

// BenchmarkLongTurn compares a turn of 60,000 deltas with the store and without,
// as fast as they go and at 100,000 a second, in turns: the ratio of the medians,
// and the size of the database against the text.
func BenchmarkLongTurn(b *testing.B) {
	for name, pause := range map[string]time.Duration{"burst": 0, "paced": 10 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			s, err := store.Open(b.Context(), store.Config{Dir: dir})
			if err != nil {
				b.Fatal(err)
			}
			var with, without []time.Duration
			text := 0
			for b.Loop() {
				for range 5 {
					without = append(without, longTurn(b, forgetful{s}, pause, &text))
					text = 0
					with = append(with, longTurn(b, s, pause, &text))
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(dir, "state.db"))
			if err != nil {
				b.Fatal(err)
			}
			slices.Sort(with)
			slices.Sort(without)
			b.ReportMetric(float64(with[len(with)/2])/float64(without[len(without)/2]), "with/without")
			b.ReportMetric(float64(info.Size())/float64(text*len(with)), "file/text")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func longTurn(b *testing.B, journal tasks.Journal, pause time.Duration, text *int) time.Duration {
	r := newRunner()
	e, err := tasks.New(tasks.Config{Runner: r, Journal: journal})
	if err != nil {
		b.Fatal(err)
	}
	begin(b, e, request(a2a.NewMessageID(), "c", "hi"))
	j := r.next(b).start()
	const deltas = 60_000
	began := time.Now()
	for i := range deltas {
		j.say("a", delta)
		if *text += len(delta); pause > 0 && i%1000 == 999 {
			time.Sleep(pause)
		}
	}
	j.end(agent.Ended{Outcome: agent.Completed})
	took := time.Since(began)
	if err := e.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	return took
}
