package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/screentest"
)

// sitPlain is [sit] at a plain place. Its clock is moved by the test.
func sitPlain(t *testing.T) (s *sitting, clock *atomic.Int64) {
	t.Helper()
	keyboard, keys := io.Pipe()
	s = &sitting{Display: screentest.NewDisplay(t, 100, 40), t: t, runtime: newRuntime(), keys: keys, done: make(chan struct{})}
	clock = new(atomic.Int64)
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	cfg := Config{Runtime: s.runtime, Task: &bridge.Task{TaskID: id, Prompt: "fix it"}, In: keyboard, Out: lines{s.Display}, Plain: true}
	go func() {
		defer close(s.done)
		s.end, s.err = newPlain(cfg, func() time.Time { return noon.Add(time.Duration(clock.Load())) }).run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		_ = keys.CloseWithError(io.EOF)
		<-s.done
	})
	return s, clock
}

// later is when a question has been read.
const later = int64(time.Minute)

// TestPlainFields keeps what was given to a question when another one comes.
func TestPlainFields(t *testing.T) {
	s, clock := sitPlain(t)
	fields := map[string]any{"type": "question", "id": "q1", "kind": "input", "questions": []any{
		map[string]any{"id": "a", "question": "First?"}, map[string]any{"id": "b", "question": "Second?"},
	}}
	ask := []*a2a.Part{a2a.NewTextPart("codex asks:\n\n1. First?\n2. Second?"), a2a.NewDataPart(fields)}
	s.happens(state(a2a.TaskStateInputRequired, ask...))
	s.see("  First?")
	clock.Add(later)
	s.press("one\n")
	s.see("  Second?")
	more := map[string]any{"type": "question", "id": "q2", "kind": "command", "choices": []any{"accept", "decline"}}
	s.happens(state(a2a.TaskStateInputRequired, append(ask, a2a.NewTextPart("codex asks whether it may run this"), a2a.NewDataPart(more))...))
	s.see("codex asks whether it may run this")
	s.press("two\n")
	s.wants("say q1 1: one\n2: two")
}

// TestPlainEarlyLine: a line that was written before the question could be read is an answer to it only
// when that is said.
func TestPlainEarlyLine(t *testing.T) {
	s, clock := sitPlain(t)
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	s.press("yes\n")
	s.see(`An empty line sends "yes"`)
	s.press("\n")
	s.wants("say q1 yes")
	s.happens(state(a2a.TaskStateWorking))
	s.see("nothing is asked any more")
	s.press("go on\n")
	s.wants("steer go on")
	s.happens(mayRun("q2"))
	s.Until("the second question", func(screen string) bool { return strings.Count(screen, "[1] yes") == 2 })
	clock.Add(later)
	s.press("2\n")
	s.wants("respond q2 decline")
}

// TestPlainLeaves at the end of what is written; what was begun is told before.
func TestPlainLeaves(t *testing.T) {
	s, _ := sitPlain(t)
	s.happens(state(a2a.TaskStateWorking))
	s.press("say so")
	_ = s.keys.Close()
	s.wants("steer say so")
	if _, err := s.ends(); !errors.Is(err, ErrLeft) {
		t.Errorf("ended with %v", err)
	}
}
