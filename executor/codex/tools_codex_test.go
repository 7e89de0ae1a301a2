package codex_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// The tests in this file have the real codex call tools of ours.

// A bench answers calls as answer says, and keeps them.
type bench struct {
	answer func(ctx context.Context, call agent.ToolCall) agent.ToolResult

	mu    sync.Mutex // guards calls
	calls []agent.ToolCall
}

func (b *bench) Call(ctx context.Context, call agent.ToolCall) agent.ToolResult {
	b.mu.Lock()
	b.calls = append(b.calls, call)
	b.mu.Unlock()
	return b.answer(ctx, call)
}

func (b *bench) seen() []agent.ToolCall {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// offers gives codex tools of these names.
func offers(b *bench, names ...string) func(*config) {
	return func(cfg *config) {
		cfg.Tools = b
		for _, name := range names {
			cfg.Thread.DynamicTools = append(cfg.Thread.DynamicTools, agent.Tool{
				Name: name, Description: "does " + name,
				Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"a text"}}}`),
			})
		}
	}
}

func echo(_ context.Context, call agent.ToolCall) agent.ToolResult {
	return agent.ToolResult{Text: call.Tool + " got " + string(call.Arguments)}
}

func TestToolIsCalled(t *testing.T) {
	t.Parallel()
	model, b := modeltest.Start(t, fakemodel.Keywords), &bench{answer: echo}
	e := onCodex(t, model, offers(b, "list_peers"))
	w := submit(t, e, "j1", "one", `call list_peers {"text":"all"}`)
	if end := w.wait(t); !strings.Contains(said(end), `list_peers got {"text":"all"}`) || !end.Tools {
		t.Errorf("the turn says %q, tools %v", said(end), end.Tools)
	}
	started := seen[agent.Started](w)[0]
	call := b.seen()[0]
	if call.Thread != started.ThreadID || call.Turn != started.TurnID || call.Context != "one" || call.Job != "j1" || call.ID == "" {
		t.Errorf("call = %+v of the turn %+v", call, started)
	}
	// A restarted codex still offers it, in the same thread.
	if err := syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w = submit(t, e, "j2", "one", `call list_peers {"text":"again"}`)
	if end := w.wait(t); !strings.Contains(said(end), "again") || seen[agent.Started](w)[0].ThreadID != started.ThreadID {
		t.Errorf("after a restart of codex the turn says %q", said(end))
	}
}

// twoCalls is a model that calls two tools at once, and then says what they said.
func twoCalls(first, second string) fakemodel.Script {
	return func(m *fakemodel.Turn) {
		if outputs := m.NewToolOutputs(); len(outputs) > 0 {
			var all []string
			for _, out := range outputs {
				all = append(all, out.Text)
			}
			m.Say(strings.Join(all, ", "))
			return
		}
		m.Call(first, "{}")
		m.Call(second, "{}")
	}
}

func TestToolsAreCalledConcurrently(t *testing.T) {
	t.Parallel()
	quick := make(chan struct{})
	b := &bench{answer: func(ctx context.Context, call agent.ToolCall) agent.ToolResult {
		if call.Tool == "quick" {
			close(quick)
			return agent.ToolResult{Text: "quick is done"}
		}
		select { // the slow one, which is called first, ends only after the quick one
		case <-quick:
			return agent.ToolResult{Text: "slow could not", Failed: true}
		case <-ctx.Done():
			return agent.ToolResult{Text: "slow held quick up", Failed: true}
		}
	}}
	e := onCodex(t, modeltest.Start(t, twoCalls("slow", "quick")), offers(b, "slow", "quick"))
	if got := said(submit(t, e, "j1", "one", "go").wait(t)); got != "slow could not, quick is done" {
		t.Errorf("the tools said %q", got)
	}
}

// TestToolEndsWithItsTurn cancels a turn that waits for a tool.
func TestToolEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	b := &bench{answer: func(ctx context.Context, _ agent.ToolCall) agent.ToolResult {
		close(entered)
		<-ctx.Done()
		close(left)
		return agent.ToolResult{Text: "too late", Failed: true}
	}}
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), offers(b, "delegate_task"))
	w := submit(t, e, "j1", "one", "call delegate_task {}")
	<-entered
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	<-left
	if end := w.wait(t); end.Outcome != agent.Canceled {
		t.Errorf("end = %+v, want it canceled", end)
	}
	if got := said(submit(t, e, "j2", "one", "say next").wait(t)); !strings.Contains(got, "next") {
		t.Errorf("the next turn says %q", got)
	}
}

// TestToolEndsWithTheChild kills codex while a tool works.
func TestToolEndsWithTheChild(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	b := &bench{answer: func(ctx context.Context, _ agent.ToolCall) agent.ToolResult {
		close(entered)
		<-ctx.Done()
		close(left)
		return agent.ToolResult{}
	}}
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), offers(b, "delegate_task"))
	w := submit(t, e, "j1", "one", "call delegate_task {}")
	<-entered
	if err := syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-left
	if end := w.wait(t); end.Outcome != agent.Interrupted { // it may have delegated
		t.Errorf("end = %+v, want it interrupted", end)
	}
}

// TestChangedTools has runtimes with different tools go on with one conversation.
func TestChangedTools(t *testing.T) {
	t.Parallel()
	model, b, book := modeltest.Start(t, fakemodel.Keywords), &bench{answer: echo}, &notebook{}
	cfg := codexConfig(t, model)
	cfg.Journal = book
	thread := ""
	for _, step := range []struct {
		job     string
		change  func(*config)
		renewed bool
	}{
		{"first", offers(b, "a"), false},
		{"same", offers(b, "a"), false},
		{"reworded", func(cfg *config) {
			offers(b, "a")(cfg)
			cfg.Thread.DynamicTools[0].Description = "in other words"
			cfg.Thread.DynamicTools[0].Schema = json.RawMessage(`{"properties":{"text":{"description":"x","type":"string"}},"type":"object"}`)
		}, false},
		{"more", offers(b, "b", "a"), true},
		{"another-order", offers(b, "a", "b"), false},
		{"none", func(cfg *config) {}, true},
		{"again-none", func(cfg *config) {}, false},
	} {
		now := cfg
		step.change(&now)
		e := newRig(now)
		w := submit(t, e, step.job, "one", "say hello")
		wantEnd(t, w.wait(t), agent.Completed, "")
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		started, notices := seen[agent.Started](w)[0], seen[agent.Notice](w)
		told := len(notices) == 1 && strings.Contains(notices[0].Text, "tools")
		if started.Replaced != step.renewed || told != step.renewed || thread != "" && (started.ThreadID != thread) != step.renewed {
			t.Errorf("%s: %+v after thread %q, notices %+v; want it renewed: %v", step.job, started, thread, notices, step.renewed)
		}
		requests := model.Requests()
		if body := string(requests[len(requests)-1].Body); step.renewed && !strings.Contains(body, "The tools that you can call have changed") {
			t.Errorf("%s: the model was not told of the change", step.job)
		}
		thread = started.ThreadID
	}
}
