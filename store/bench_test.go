package store

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// benchOpen returns a store on the disk that the tests run on.
func benchOpen(b *testing.B) *Store {
	b.Helper()
	s, err := Open(b.Context(), Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// median reports the median of what the loop took beside the mean.
func median(b *testing.B, f func(i int)) {
	b.Helper()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i)
		took = append(took, time.Since(start))
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "worst-µs")
}

func messageNumber(i int) (Message, Head) {
	task := fmt.Sprintf("0e4f8a3c-1111-2222-3333-%012d", i)
	return Message{
			Key: Key{Message: fmt.Sprintf("message-%d", i), Context: "context"}, TaskID: task,
			Job: fmt.Sprintf("job-%d", i), Conversation: "conversation", Body: bytes.Repeat([]byte("x"), 300),
		}, Head{
			ID: task, Context: "context", Conversation: "conversation", State: "submitted",
			At: time.Now(), Body: bytes.Repeat([]byte("y"), 200),
		}
}

func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(b.TempDir() + "/f")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	median(b, func(int) {
		f.WriteAt(page, 0)
		f.Sync()
	})
}

func BenchmarkAccept(b *testing.B) {
	s := benchOpen(b)
	median(b, func(i int) {
		m, h := messageNumber(i)
		if err := s.Accept(b.Context(), m, h); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkAcceptTogether(b *testing.B) {
	s := benchOpen(b)
	const callers = 32
	for i := 0; b.Loop(); i++ {
		var wg sync.WaitGroup
		for j := range callers {
			wg.Go(func() {
				m, h := messageNumber(i*callers + j)
				if err := s.Accept(b.Context(), m, h); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*callers), "µs/accept")
}

func BenchmarkWriteText(b *testing.B) {
	s := benchOpen(b)
	m, h := messageNumber(0)
	if err := s.Accept(b.Context(), m, h); err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat([]byte("z"), 200)
	median(b, func(i int) {
		seq := int64(i + 1)
		if err := s.Write(b.Context(), Change{Task: h.ID, Events: []Events{{First: seq, Last: seq, Epoch: 1, Body: body}}}); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkWriteState(b *testing.B) {
	s := benchOpen(b)
	m, h := messageNumber(0)
	if err := s.Accept(b.Context(), m, h); err != nil {
		b.Fatal(err)
	}
	median(b, func(int) {
		h.At = time.Now()
		if err := s.Write(b.Context(), Change{Head: &h}); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkReadMessage(b *testing.B) {
	s := benchOpen(b)
	m, h := messageNumber(0)
	if err := s.Accept(b.Context(), m, h); err != nil {
		b.Fatal(err)
	}
	median(b, func(int) {
		if _, err := s.Message(b.Context(), m.Key); err != nil {
			b.Fatal(err)
		}
	})
}

// finished fills a store with ended tasks and closes it.
func finished(b *testing.B, n int) (dir string) {
	b.Helper()
	dir = b.TempDir()
	s, err := Open(b.Context(), Config{Dir: dir})
	must(b, err)
	var wg sync.WaitGroup
	for i := range n {
		if i%200 == 199 {
			wg.Wait()
		}
		wg.Go(func() {
			m, h := messageNumber(i)
			h.Context = fmt.Sprintf("context-%d", i%100)
			must(b, s.Accept(b.Context(), m, h))
			h.State, h.Ended = "completed", true
			must(b, s.Write(b.Context(), Change{
				Head: &h, Ended: []string{m.Job}, Artifacts: [][]byte{bytes.Repeat([]byte("z"), 2000)},
				Events: []Events{{First: 1, Last: 50, Epoch: 1, Body: bytes.Repeat([]byte("e"), 4000)}},
			}))
		})
	}
	wg.Wait()
	must(b, s.Close())
	return dir
}

func BenchmarkWith10000Tasks(b *testing.B) {
	dir := finished(b, 10_000)
	b.Run("open", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			s, err := Open(b.Context(), Config{Dir: dir})
			must(b, err)
			_, err = s.Unfinished(b.Context())
			must(b, err)
			took = append(took, time.Since(start))
			must(b, s.Close())
		}
		report(b, took)
	})
	s, err := Open(b.Context(), Config{Dir: dir})
	must(b, err)
	defer s.Close()
	for name, q := range map[string]Query{
		"page": {Limit: 50}, "page-of-context": {Limit: 50, Context: "context-7"},
		"page-whole": {Limit: 50, History: -1, Artifacts: true}, "page-100-whole": {Limit: 100, History: -1, Artifacts: true},
		"page-of-state": {Limit: 50, State: "completed"},
	} {
		b.Run(name, func(b *testing.B) {
			median(b, func(int) {
				page, err := s.Tasks(b.Context(), q)
				must(b, err)
				if len(page.Tasks) != q.Limit {
					b.Fatalf("%d tasks", len(page.Tasks))
				}
			})
		})
	}
	b.Run("accept", func(b *testing.B) {
		median(b, func(i int) {
			m, h := messageNumber(1_000_000 + b.N + i)
			m.Key.Caller, m.Job, m.TaskID = fmt.Sprint(b.N), fmt.Sprint("j", b.N, "-", i), fmt.Sprint("t", b.N, "-", i)
			h.ID = m.TaskID
			must(b, s.Accept(b.Context(), m, h))
		})
	})
	b.Run("sizes", func(b *testing.B) {
		median(b, func(int) {
			_, err := s.Sizes(b.Context())
			must(b, err)
		})
	})
}

// BenchmarkSweepStep measures how long a step of retention holds the writer.
func BenchmarkSweepStep(b *testing.B) {
	dir := finished(b, 3000)
	s, err := Open(b.Context(), Config{Dir: dir, Retention: Retention{Tasks: 1}, Now: func() time.Time { return time.Now().Add(time.Hour) }})
	must(b, err)
	defer s.Close()
	var took []time.Duration
	for b.Loop() {
		for more := true; more; {
			start := time.Now()
			must(b, s.do(b.Context(), "sweep", relaxed, func(c *conn) (err error) {
				more, err = c.sweep(s.retention, time.Now(), time.Now())
				return err
			}))
			took = append(took, time.Since(start))
		}
	}
	report(b, took)
}

// BenchmarkCheckpoint measures how long moving the log holds the writer.
func BenchmarkCheckpoint(b *testing.B) {
	for _, pages := range []int{restPages, forcePages} {
		b.Run(fmt.Sprint(pages), func(b *testing.B) {
			s := benchOpen(b)
			m, h := messageNumber(0)
			must(b, s.Accept(b.Context(), m, h))
			var took []time.Duration
			for b.Loop() {
				// In one operation, so that the writer does not do it by itself.
				must(b, s.do(b.Context(), "fill", reads, func(c *conn) error {
					err := c.setArtifacts(&taskRow{n: 1, artifacts: true}, [][]byte{make([]byte, pages*pageSize)})
					start := time.Now()
					s.checkpoint(1)
					took = append(took, time.Since(start))
					return err
				}))
			}
			report(b, took)
		})
	}
}
