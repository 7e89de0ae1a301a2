package tasks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
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
	command := appserver.Item{ID: "t", Type: appserver.ItemCommandExecution}
	j.observe(executor.ItemStarted{Item: command})
	j.observe(executor.ItemCompleted{Item: command})
	j.observe(executor.ItemCompleted{Item: command}) // it has ended
	j.whole("a", "xy", "")
	j.end(executor.Ended{Outcome: executor.Completed, Usage: appserver.TokenUsage{InputTokens: 1, CachedInputTokens: 2, OutputTokens: 3, ReasoningOutputTokens: 4}})
	begin(t, e, request("m2", "c", "hi"))
	r.next(t).end(executor.Ended{Outcome: executor.Canceled}) // never started
	want := "started 1ms,text,tool command true,ended completed,tokens 1 2 3 4,tokens 0 0 0 0"
	if got := strings.Join(m.calls, ","); got != want {
		t.Errorf("metrics = %s, want %s", got, want)
	}
}

// TestToolKindsAreFew: codex may invent kinds, and each would be a series for ever.
func TestToolKindsAreFew(t *testing.T) {
	kinds := map[string]bool{}
	for _, kind := range []appserver.ItemType{
		appserver.ItemCommandExecution, appserver.ItemFileChange, appserver.ItemMcpToolCall,
		appserver.ItemDynamicToolCall, appserver.ItemWebSearch,
	} {
		kinds[tasks.ToolKind(kind)] = true
	}
	for i := range 100 {
		kinds[tasks.ToolKind(appserver.ItemType(fmt.Sprint("invented", i)))] = true
	}
	if len(kinds) != 6 {
		t.Errorf("%d kinds: %v", len(kinds), kinds)
	}
}
