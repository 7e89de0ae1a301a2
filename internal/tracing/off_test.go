package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestOff: what is switched off is not there.
func TestOff(t *testing.T) {
	var off *Tracing
	h, c := &desk{}, toolFunc(func(context.Context) {})
	if off.Handler(h) != Handler(h) || off.Attempts() != nil || off.Close() != nil {
		t.Error("something stands between")
	}
	next := func(agent.Event) {}
	if observe, refused := off.Watch(executor.Job{ID: "j"}, "", next); reflect.ValueOf(observe).Pointer() != reflect.ValueOf(next).Pointer() || refused != nil {
		t.Error("something stands before the observer")
	}
	if _, same := off.Tools(c).(toolFunc); !same || off.Tools(nil) != nil {
		t.Error("something stands before the tools")
	}
	observe := off.Calls(func(context.Context, string) (http.Header, func(error)) { return nil, nil })
	if n := testing.AllocsPerRun(100, func() { _, _ = observe(t.Context(), "heartbeat") }); n != 0 {
		t.Errorf("a call of the platform costs %v allocations", n)
	}
}

// TestDeltasAreCheap: even what is traced costs nothing for each piece of text.
func TestDeltasAreCheap(t *testing.T) {
	made, _ := traced(t)
	job := executor.Job{ID: "j"}
	tell := submit(made, job)
	made.Attempt(job, 1)
	var delta agent.Event = agent.TextDelta{ItemID: "a", Text: "x"}
	tell(delta)
	if n := testing.AllocsPerRun(1000, func() { tell(delta) }); n != 0 {
		t.Errorf("a piece of text costs %v allocations", n)
	}
	tell(agent.Ended{Outcome: agent.Completed})
}

// BenchmarkDelta is what tracing costs for each piece of text, when it is on.
func BenchmarkDelta(b *testing.B) {
	made, err := Open(b.Context(), Config{Exporter: &failing{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer made.Close()
	tell := submit(made, executor.Job{ID: "j"})
	var delta agent.Event = agent.TextDelta{ItemID: "a", Text: "x"}
	b.ReportAllocs()
	for b.Loop() {
		tell(delta)
	}
}

// BenchmarkTurn is what tracing costs for a turn with one tool, when it is on.
func BenchmarkTurn(b *testing.B) {
	made, err := Open(b.Context(), Config{Exporter: &failing{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer made.Close()
	h := made.Handler(&desk{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.SendMessage(b.Context(), message(nil)); err != nil {
			b.Fatal(err)
		}
		job := executor.Job{ID: "j"}
		tell := submit(made, job)
		made.Attempt(job, 1)
		tell(agent.Started{ThreadID: "t", TurnID: "u", Attempt: 1})
		tell(agent.ItemStarted{Item: agent.Item{ID: "c", Kind: agent.KindCommand}})
		tell(agent.ItemCompleted{Item: agent.Item{ID: "c", Kind: agent.KindCommand}})
		tell(agent.Ended{Outcome: agent.Completed})
	}
}

// TestCollectorIsDown: the log says so once a minute, with how much was lost.
func TestCollectorIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		down := &failing{err: errors.New("connection refused")}
		made, err := Open(t.Context(), Config{Exporter: down, Logger: slog.New(slog.NewTextHandler(&text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for range 150 {
			_, span := made.tracer.Start(t.Context(), "x")
			span.End()
			time.Sleep(time.Second)
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
		if said := strings.Count(text.String(), "traces cannot be handed over"); down.calls < 20 || said < 2 || said > 3 {
			t.Errorf("%d tries, said %d times:\n%s", down.calls, said, text.String())
		}
	})
}

// TestCollectorHangs: nobody waits for one that takes the spans and never answers, neither
// while there are more than it could be given nor at the end.
func TestCollectorHangs(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() // it accepts nothing
	made, err := Open(t.Context(), Config{Endpoint: "http://" + ln.Addr().String() + "/v1/traces", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 10000 {
		_, span := made.tracer.Start(t.Context(), "x")
		span.End()
	}
	if took := time.Since(began); took > 20*time.Second { // each batch that is waited for would take ten
		t.Errorf("10000 spans took %s", took)
	}
	began = time.Now()
	if err := made.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > closeLimit+15*time.Second {
		t.Errorf("the end took %s", took)
	}
	_ = ln.Close()
}
