package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	p := start(t)
	task := p.send("m1", "", "say hello there")
	if state(task) != "TASK_STATE_COMPLETED" || !strings.Contains(text(task), "hello there") {
		t.Fatalf("task = %v, want it completed with the model's words", task)
	}
}

func TestStreamThenEnd(t *testing.T) {
	t.Parallel()
	p := start(t)
	s := p.stream(t.Context(), "SendStreamingMessage", object{"message": message("m1", "", "stream 40 8")})
	first := s.next()
	if at(first, "task", "status", "state") != "TASK_STATE_SUBMITTED" {
		t.Fatalf("first event = %v, want the submitted task", first)
	}
	var text strings.Builder
	var last object
	for event := s.next(); event != nil; event = s.next() {
		last = event
		if update, ok := event["artifactUpdate"].(object); ok {
			if update["append"] != true {
				text.Reset()
			}
			piece, _ := at(update, "artifact", "parts", 0, "text").(string)
			text.WriteString(piece)
		}
	}
	if got := text.Len(); got != 40*8 {
		t.Errorf("streamed %d bytes, want %d", got, 40*8)
	}
	if at(last, "statusUpdate", "status", "state") != "TASK_STATE_COMPLETED" {
		t.Errorf("last event = %v, want the completed status", last)
	}
}

// TestContextsStayApart runs eight conversations at the same time; each model
// call must see its own words only, and each answer must reach its own caller.
func TestContextsStayApart(t *testing.T) {
	t.Parallel()
	p := start(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			context, secret := fmt.Sprintf("context-%d", i), fmt.Sprintf("secret-%d-", i)
			p.send(fmt.Sprintf("a%d", i), context, "remember "+secret)
			task := p.send(fmt.Sprintf("b%d", i), context, "recall")
			if got := text(task); !strings.Contains(got, secret) || strings.Count(got, "secret-") != strings.Count(got, secret) {
				t.Errorf("context %d recalls %q, want its own secret alone", i, got)
			}
		})
	}
	wg.Wait()
}

func TestSecondMessageWaitsItsTurn(t *testing.T) {
	t.Parallel()
	p := start(t)
	var ids []any
	for i := range 4 {
		ids = append(ids, p.begin(fmt.Sprintf("m%d", i), "one", fmt.Sprintf("stream 20 8 10ms n%d", i))["id"])
	}
	for _, id := range ids {
		if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" {
			t.Errorf("task %v = %v, want it completed", id, task["status"])
		}
	}
	requests := p.Model.Requests()
	if len(requests) != len(ids) {
		t.Fatalf("the model was asked %d times, want %d: turns must not fold into one another", len(requests), len(ids))
	}
	for i, request := range requests {
		texts := request.UserTexts()
		if got := texts[len(texts)-1]; !strings.Contains(got, fmt.Sprintf("n%d", i)) {
			t.Errorf("turn %d was given %q: the order of arrival was not kept", i, got)
		}
	}
}

func TestBigToolOutput(t *testing.T) {
	t.Parallel()
	p := start(t)
	task := p.send("m1", "one", "output 300000")
	if state(task) != "TASK_STATE_COMPLETED" {
		t.Fatalf("task = %v, want it completed", task["status"])
	}
	if task := p.send("m2", "one", "say still here"); !strings.Contains(text(task), "still here") {
		t.Errorf("the next turn answered %q", text(task))
	}
}

// TestStalledReader lets one subscriber of a long turn stop reading. The turn,
// the caller who waits for it and another stream must not notice.
func TestStalledReader(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	const deltas, size = 60_000, 8
	params := object{"message": message("m1", "one", fmt.Sprintf("stream %d %d", deltas, size))}
	stalled := p.stream(t.Context(), "SendStreamingMessage", params)
	first := stalled.next()
	id := at(first, "task", "id")
	if id == nil {
		t.Fatalf("first event = %v, want a task", first)
	}
	began := time.Now()
	task := p.ended(id)
	if got := len(text(task)); got != deltas*size {
		t.Errorf("the answer has %d bytes, want %d", got, deltas*size)
	}
	t.Logf("60,000 deltas with a stalled reader: %s", time.Since(began))
	if task := p.send("m2", "two", "say meanwhile"); !strings.Contains(text(task), "meanwhile") {
		t.Errorf("another context answered %q", text(task))
	}
}
