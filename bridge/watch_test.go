package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// A cutter breaks a stream after some of its events.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	if c.left -= bytes.Count(b, []byte("data:")); c.left <= 0 {
		control := http.NewResponseController(c.ResponseWriter)
		_ = control.Flush()
		_ = control.SetWriteDeadline(time.Unix(1, 0))
		return 0, errors.New("cut")
	}
	return n, err
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// TestWatchComesBack sees everything once over a connection that breaks all the time.
func TestWatchComesBack(t *testing.T) {
	w := newWorld(t)
	id, j := w.start("x")
	var streams atomic.Int32
	w.interfere(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Accept") == "text/event-stream" && streams.Add(1) <= 4 {
			rw = &cutter{rw, 2}
		}
		next.ServeHTTP(rw, r)
	})
	var text strings.Builder
	begun := make(chan struct{})
	var end *bridge.Task
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		end, err = w.client.Watch(t.Context(), id, bridge.Sight{Event: func(e a2a.Event) {
			if update, ok := e.(*a2a.TaskArtifactUpdateEvent); ok {
				if text.Len() == 0 {
					close(begun)
				}
				text.WriteString(update.Artifact.Parts[0].Text())
			}
		}})
	}()
	j.observe(agent.TextDelta{ItemID: "reply", Text: "one "})
	<-begun
	for range 5 {
		j.observe(agent.Notice{Text: "still there"})
	}
	j.observe(agent.TextDelta{ItemID: "reply", Text: "two "})
	j.end("one two three")
	<-done
	if err != nil || end.Status != bridge.Completed || text.String() != "one two three" || streams.Load() < 5 {
		t.Errorf("watched %q over %d streams to %+v, %v", text.String(), streams.Load(), end, err)
	}
}

func TestWatchEnds(t *testing.T) {
	w := newWorld(t)
	if _, err := w.client.Watch(t.Context(), "codex-aaaaaaaaaaaa", bridge.Sight{}); err == nil {
		t.Error("an unknown task is watched")
	}
	id, _ := w.start("x")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := w.client.Watch(ctx, id, bridge.Sight{Event: func(a2a.Event) { cancel() }}); err == nil {
		t.Error("a watch goes on whose watcher has left")
	}
}

func TestPrinter(t *testing.T) {
	w := newWorld(t)
	id, j := w.start("x")
	j.observe(agent.TextDelta{ItemID: "a", Text: "I will "})
	j.observe(agent.ItemCompleted{Item: agent.Item{ID: "a", Kind: agent.KindMessage, Text: "I will look"}})
	zero := 0
	command := agent.Item{ID: "c", Kind: agent.KindCommand, Command: "ls\n-l", Status: "inProgress"}
	j.observe(agent.ItemStarted{Item: command})
	command.Status, command.ExitCode, command.DurationMs = "completed", &zero, 1500
	j.observe(agent.ItemCompleted{Item: command})
	j.observe(agent.PlanUpdated{Steps: []agent.PlanStep{{Step: "look", Status: "completed"}, {Step: "do", Status: "pending"}}})
	j.observe(agent.Question{ID: "3", Text: "may I?", Data: object{
		"type": "question", "id": "3", "kind": "command", "choices": []any{"accept", object{"acceptWithExecpolicyAmendment": object{}}, "decline"},
	}})
	j.observe(agent.Answered{ID: "3"})
	j.observe(agent.Notice{Text: "slow"})
	j.observe(agent.Ended{
		Outcome: agent.Failed, Messages: []agent.Message{{ItemID: "a", Text: "I will look"}},
		Diff: "a\nb\n", Failure: &agent.Failure{Message: "no more"},
	})
	var out bytes.Buffer
	p := &bridge.Printer{Out: &out, ID: id}
	end, err := w.client.Watch(t.Context(), id, bridge.Sight{Event: p.Event})
	if err != nil {
		t.Fatal(err)
	}
	p.End(end)
	want := "I will look\n$ ls -l\n  exit 0 after 1.5s\n  [x] look\n  [ ] do\n? may I?\n" +
		"  runtime task respond " + id + " 3 --decision 'accept|decline'\n! slow\n± a diff of 2 lines\n" + id + " failed: no more\n"
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
	}
}

// TestPrinterOfModelCalls: who wants to know sees for each turn how its requests to the model went, and once.
func TestPrinterOfModelCalls(t *testing.T) {
	for name, test := range map[string]struct {
		verbose bool
		want    string
	}{
		"plain": {false, "one\na turn has ended: completed\ntwo\nID completed\n"},
		"verbose": {true, "one\nmodel: 2 calls (1 failed) by websocket, first byte 0.42 s (connect 0.06 s), 61 tokens/s, 4.30 s in all\n" +
			"a turn has ended: completed\ntwo\nmodel: 1 call by http, 0.50 s in all\nID completed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id, j := w.start("x")
			if _, err := w.client.Do(t.Context(), bridge.Args{Action: "steer", TaskID: id, Instruction: "more"}); err != nil {
				t.Fatal(err)
			}
			second := w.next()
			j.observe(agent.ModelCalled{Socket: true, Connect: 60 * time.Millisecond, First: 420 * time.Millisecond, Took: 2420 * time.Millisecond, Tokens: 122, Status: 200})
			j.observe(agent.ModelCalled{Took: 1880 * time.Millisecond, Status: 500})
			j.end("one")
			second.start().observe(agent.ModelCalled{Took: 500 * time.Millisecond, Status: 200})
			second.end("two")
			var out bytes.Buffer
			p := &bridge.Printer{Out: &out, ID: id, Verbose: test.verbose}
			end, err := w.client.Watch(t.Context(), id, bridge.Sight{Event: p.Event})
			if err != nil {
				t.Fatal(err)
			}
			p.End(end)
			if want := strings.ReplaceAll(test.want, "ID", id); out.String() != want {
				t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
			}
		})
	}
}
