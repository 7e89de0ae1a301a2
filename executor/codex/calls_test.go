package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// counted are the requests to the model that were counted.
type counted struct {
	codex.Metrics
	mu  sync.Mutex
	all []string
}

func (*counted) ChildStarted()         {}
func (*counted) ChildRestarted(string) {}

func (c *counted) ModelCalled(transport, outcome string, connect, first time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, fmt.Sprint(transport, " ", outcome, " ", connect, " ", first))
}

// TestModelCallsAreTheirTurns: a turn tells of the requests that were made for it, before its end and in their order.
// Those of other threads, and of no turn, are only counted.
func TestModelCallsAreTheirTurns(t *testing.T) {
	t.Parallel()
	var hear func(string, agent.ModelCalled)
	metrics := &counted{}
	e := onFake(t, "", func(c *config) {
		c.Calls, c.driverConfig.Metrics = func(to func(string, agent.ModelCalled)) { hear = to }, metrics
	})
	file := filepath.Join(t.TempDir(), "go-on")
	one, two := submit(t, e, "j1", "one", "!until "+file), submit(t, e, "j2", "two", "!until "+file)
	one.started(t)
	two.started(t)
	thread := func(w *witness) string { return seen[agent.Started](w)[0].ThreadID }
	hear(thread(one), agent.ModelCalled{Socket: true, Connect: time.Millisecond, First: time.Second, Status: 200})
	hear("another", agent.ModelCalled{First: 2 * time.Second, Status: 429})
	hear("", agent.ModelCalled{Status: 500})
	hear(thread(two), agent.ModelCalled{})
	hear(thread(one), agent.ModelCalled{First: 3 * time.Second, Status: 200})
	if err := os.WriteFile(file, []byte("done"), 0o600); err != nil {
		t.Fatal(err)
	}
	one.wait(t)
	two.wait(t)
	hear(thread(one), agent.ModelCalled{First: 4 * time.Second, Status: 200}) // too late
	first := func(w *witness) (all []time.Duration) {
		for _, c := range seen[agent.ModelCalled](w) {
			all = append(all, c.First)
		}
		return all
	}
	if got := first(one); !slices.Equal(got, []time.Duration{time.Second, 3 * time.Second}) {
		t.Errorf("the one was told of %v", got)
	}
	behind := slices.IndexFunc(one.events, func(e agent.Event) bool { _, ok := e.(agent.TextDelta); return ok })
	if calls := one.events[1:3]; behind < 3 || calls[0] != (agent.ModelCalled{Socket: true, Connect: time.Millisecond, First: time.Second, Status: 200}) {
		t.Errorf("they are not told before what codex has said of them, but %T", one.events)
	}
	if got := first(two); !slices.Equal(got, []time.Duration{0}) {
		t.Errorf("the other was told of %v", got)
	}
	want := []string{"websocket ok 1ms 1s", "http refused 0s 2s", "http failed 0s 0s", "http cut 0s 0s", "http ok 0s 3s", "http ok 0s 4s"}
	if !slices.Equal(metrics.all, want) {
		t.Errorf("counted were %q", metrics.all)
	}
}

// TestModelCallsOfACutTurn are told as those of the attempt that was cut, though codex says nothing behind them.
func TestModelCallsOfACutTurn(t *testing.T) {
	t.Parallel()
	var hear func(string, agent.ModelCalled)
	e := onFake(t, "", func(c *config) { c.Calls = func(to func(string, agent.ModelCalled)) { hear = to } })
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: "j1", Context: "one", Input: []agent.Input{agent.Text("!die 3")}}
	if _, err := e.Submit(job, func(event agent.Event) {
		w.observe(event)
		if _, ok := event.(agent.TextDelta); ok && len(seen[agent.Started](w)) == 1 { // the last that the first codex says
			hear(seen[agent.Started](w)[0].ThreadID, agent.ModelCalled{Status: 200})
		}
	}); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	begun := 0
	for _, event := range w.events {
		switch event.(type) {
		case agent.Started:
			begun++
		case agent.ModelCalled:
			if begun != 1 {
				t.Errorf("told in the attempt %d", begun)
			}
		}
	}
	if len(seen[agent.ModelCalled](w)) != 1 || begun != 2 {
		t.Errorf("%d were told, in %d attempts", len(seen[agent.ModelCalled](w)), begun)
	}
}
