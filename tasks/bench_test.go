package tasks_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

const delta = "the quick brown fox "

// BenchmarkDelta measures one delta from the observer into the log and to the
// readers: as it is coalesced in service, and with an event for each.
func BenchmarkDelta(b *testing.B) {
	for name, coalesce := range map[string]time.Duration{"coalesced": 0, "each": time.Nanosecond} {
		for _, readers := range []int{0, 1, 16} {
			b.Run(fmt.Sprintf("%s/readers=%d", name, readers), func(b *testing.B) {
				r := newRunner()
				e := newEngine(b, r, func(c *tasks.Config) { c.Coalesce = coalesce })
				task := begin(b, e, request("m1", "c", "hi"))
				j := r.next(b).start()
				var wg, joined sync.WaitGroup
				for range readers {
					joined.Add(1)
					wg.Go(func() {
						for event, err := range e.SubscribeToTask(b.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
							if err != nil {
								b.Error(err)
							}
							if _, first := event.(*a2a.Task); first {
								joined.Done()
							}
						}
					})
				}
				joined.Wait()
				event := agent.TextDelta{ItemID: "a", Text: delta}
				b.ReportAllocs()
				for b.Loop() {
					j.observe(event)
				}
				j.end(agent.Ended{Outcome: agent.Completed})
				wg.Wait()
			})
		}
	}
}

// BenchmarkTask measures a whole task: a message, its turn and its answer.
func BenchmarkTask(b *testing.B) {
	r := newRunner()
	r.onSubmit = func(j *job) {
		j.start().answer("done")
		r.mu.Lock()
		defer r.mu.Unlock()
		r.jobs = nil
	}
	e := newEngine(b, r)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := e.SendMessage(b.Context(), request(fmt.Sprint(i), "c", "hi")); err != nil {
			b.Fatal(err)
		}
		<-r.arrived
	}
}
