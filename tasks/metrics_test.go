package tasks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

type metrics struct {
	mu    sync.Mutex
	calls []string
}

func (m *metrics) add(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, fmt.Sprintf(format, args...))
}

func (m *metrics) TurnStarted(waited time.Duration)          { m.add("started %s", waited) }
func (m *metrics) FirstText(time.Duration)                   { m.add("text") }
func (m *metrics) TurnEnded(outcome string, _ time.Duration) { m.add("ended %s", outcome) }
func (m *metrics) Tokens(in, cached, out, reasoning int64) {
	m.add("tokens %d %d %d %d", in, cached, out, reasoning)
}

func (m *metrics) PushesDropped(n int)                       { m.add("dropped %d", n) }
func (m *metrics) ToolEnded(kind string, took time.Duration) { m.add("tool %s %t", kind, took >= 0) }

func TestMetrics(t *testing.T) {
	r := newRunner()
	var m metrics
	e := newEngine(t, r, func(c *tasks.Config) { c.Metrics = &m })
	begin(t, e, request("m1", "c", "hi"))
	j := r.next(t).start()
	j.say("a", "x")
	j.say("a", "y")
	command := agent.Item{ID: "t", Kind: agent.KindCommand}
	j.observe(agent.ItemStarted{Item: command})
	j.observe(agent.ItemCompleted{Item: command})
	j.observe(agent.ItemCompleted{Item: command}) // it has ended
	j.whole("a", "xy", "")
	j.end(agent.Ended{Outcome: agent.Completed, Usage: agent.Usage{InputTokens: 1, CachedInputTokens: 2, OutputTokens: 3, ReasoningOutputTokens: 4}})
	begin(t, e, request("m2", "c", "hi"))
	r.next(t).end(agent.Ended{Outcome: agent.Canceled}) // never started
	want := "started 1ms,text,tool command true,ended completed,tokens 1 2 3 4,tokens 0 0 0 0"
	if got := strings.Join(m.calls, ","); got != want {
		t.Errorf("metrics = %s, want %s", got, want)
	}
}
