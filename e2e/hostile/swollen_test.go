package hostile

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A swell is a body that is far larger when it is decoded, and how many of it come at once.
type swell struct {
	name string
	many int
	body call
}

// swells are by every door; some are by one, where they are the same to all.
func (x *world) swells() (rows []swell) {
	maps := func(n int) string { return `{"x":[` + strings.TrimSuffix(strings.Repeat(`{"":0},`, n), ",") + `]}` }
	for _, door := range some([]string{"1.0", "0.3", "REST 1.0", "REST 0.3", "console"}, 3) {
		of := func(metadata string) call {
			return wish{metadata, "message", door}.call(x, fmt.Sprintf("swollen-%d", x.refused.Add(1)), "say hello")
		}
		name := of(`{"x":0}`)
		name.body = strings.Replace(name.body, `"message":`, `"`+strings.Repeat("_", 15<<20)+`":1,"message":`, 1)
		snake := of(`{"x":"` + strings.Repeat("x", 15<<20) + `"}`)
		snake.body = strings.Replace(snake.body, `"messageId":`, `"message_id":`, 1)
		rows = append(rows,
			swell{"a long name of words by " + door, 4, name},
			swell{"small ones of many maps by " + door, 600, of(maps(9_370))},
		)
		if door == "1.0" {
			rows = append(rows,
				swell{"a name of words before much by " + door, 4, snake},
				swell{"large ones of many maps by " + door, 100, of(maps(99_000))},
			)
		}
	}
	return rows
}

// swollen sends them, and looks what the program comes to.
func (x *world) swollen(t *testing.T) {
	for _, row := range x.swells() {
		var all sync.WaitGroup
		var mu sync.Mutex
		became := map[string]int{}
		for range row.many {
			all.Go(func() {
				a := x.send(row.body)
				what := fmt.Sprint(a.status)
				switch {
				case a.err != nil: // it was refused while it was sent, and the answer went with the connection
					what = "lost"
				case strings.Contains(a.body, "too many large requests come at once"):
					what = "later"
				}
				serving(t, row.name, answer{status: a.status})
				mu.Lock()
				defer mu.Unlock()
				became[what]++
			})
		}
		all.Wait()
		peak := progtest.PeakMemory(t, x.Pid())
		t.Logf("%d at once, %s: %v, at most %d MiB", row.many, row.name, became, peak>>20)
		if peak > most {
			t.Errorf("%d at once, %s: the program came to %d MiB", row.many, row.name, peak>>20)
		}
		if became["200"]+became["400"] == 0 {
			t.Errorf("%d at once, %s: not one is decoded: %v", row.many, row.name, became)
		}
	}
	x.unharmed(t)
}
