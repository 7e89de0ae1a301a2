package codex_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex: what the model reads of the
// instructions is what counts.

// spoken returns the developer messages of the newest request that hold word,
// oldest first.
func spoken(model *modeltest.Model, word string) (found []string) {
	requests := model.Requests()
	for _, item := range requests[len(requests)-1].Input {
		if item.Type == "message" && item.Role == "developer" && strings.Contains(item.Text, word) {
			found = append(found, item.Text)
		}
	}
	return found
}

// persona is what threads are told, and can be changed.
type persona struct{ text atomic.Pointer[string] }

func (p *persona) is(text string) { p.text.Store(&text) }
func (p *persona) now() string    { return *p.text.Load() }

// check says something in a context and looks which personas the model then knows.
func check(t *testing.T, e *rig, model *modeltest.Model, id, context string, want ...string) {
	t.Helper()
	if end := submit(t, e, id, context, "say "+id).wait(t); end.Outcome != agent.Completed {
		t.Fatalf("%s: %+v (%v)", id, end, end.Failure)
	}
	got := spoken(model, "PERSONA")
	if len(got) != len(want) {
		t.Fatalf("%s: the model reads %d personas, want %v: %q", id, len(got), want, got)
	}
	for i, name := range want {
		if !strings.Contains(got[i], "PERSONA-"+name) || strings.Contains(got[i], "have changed") != (i > 0) {
			t.Errorf("%s: persona %d is %q, want %s", id, i, got[i], name)
		}
	}
}

func TestInstructionsReachTheModel(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	var p persona
	p.is("PERSONA-one")
	e := onCodex(t, model, func(c *config) { c.Instructions = p.now })
	check(t, e, model, "j1", "a", "one")
	check(t, e, model, "j2", "a", "one")
	p.is("PERSONA-two")
	check(t, e, model, "j3", "a", "one", "two") // a running thread is told
	check(t, e, model, "j4", "a", "one", "two") // once
	check(t, e, model, "j5", "b", "two")        // a new one starts with it
	p.is("")
	submit(t, e, "j6", "a", "say j6").wait(t)
	if got := spoken(model, "no longer hold"); len(got) != 1 {
		t.Errorf("the end of the instructions is told %d times", len(got))
	}
}

// TestLongInstructionsThatChange: the model reads all that is new, of a change to a part of them no
// more than that, and each word of those that it does not know.
func TestLongInstructionsThatChange(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	rules := func(word string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "PERSONA rule %d of %s: %s\n\n", i, word, strings.Repeat("do it well. ", 20))
		}
		return b.String()
	}
	var p persona
	p.is("# One\n\n" + rules("one", 200))
	e := onCodex(t, model, func(c *config) { c.Instructions = p.now })
	submit(t, e, "j1", "a", "say j1").wait(t)
	before := len(spoken(model, "PERSONA"))
	p.is("# One\n\n" + rules("one", 200) + "\n\n## Peers\n\nPERSONA of Ada's card")
	submit(t, e, "j2", "a", "say j2").wait(t)
	got := spoken(model, "PERSONA")[before:]
	if len(got) != 1 || len(got[0]) > 500 || !strings.Contains(got[0], "PERSONA of Ada's card") {
		t.Errorf("of a change to a part it reads %d messages: %.2000q", len(got), got)
	}
	p.is("# One\n\n" + rules("two", 200))
	submit(t, e, "j3", "a", "say j3").wait(t)
	said := strings.Join(spoken(model, "of two"), "")
	for i := range 200 {
		if !strings.Contains(said, fmt.Sprintf("rule %d of two", i)) {
			t.Fatalf("rule %d does not reach the model", i)
		}
	}
}

// TestInstructionsOverARestart changes the instructions while nobody runs: the
// next process knows what the thread has heard.
func TestInstructionsOverARestart(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	var p persona
	p.is("PERSONA-one")
	cfg := codexConfig(t, model)
	cfg.Instructions = p.now
	book := &notebook{}
	cfg.Journal = book
	e := newRig(cfg)
	check(t, e, model, "j1", "a", "one")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = newRig(cfg)
	check(t, e, model, "j2", "a", "one")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.is("PERSONA-two")
	e = newRig(cfg)
	check(t, e, model, "j3", "a", "one", "two")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = running(t, cfg)
	check(t, e, model, "j4", "a", "one", "two")
	if err := syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	check(t, e, model, "j5", "a", "one", "two")
}

// TestInstructionsOutliveACompaction: codex makes the beginning of a thread anew
// then, of what it was loaded with, and drops what turns had with them.
func TestInstructionsOutliveACompaction(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for name, c := range map[string]struct {
		change, restart bool
	}{
		"untouched": {}, "changed": {change: true}, "resumed": {restart: true}, "resumed-and-changed": {change: true, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			var isFull, compacted atomic.Bool
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				switch {
				case summarises(turn):
					compacted.Store(true)
					turn.Say("summary: nothing of note")
				case isFull.Load() && !compacted.Load():
					full(turn)
				default:
					fakemodel.Keywords(turn)
				}
			})
			var p persona
			p.is("PERSONA-one")
			cfg := codexConfig(t, model)
			cfg.Instructions, cfg.Journal = p.now, &notebook{}
			e := newRig(cfg)
			defer func() { e.Close(t.Context()) }()
			check(t, e, model, "j1", "a", "one")
			if c.restart {
				if err := e.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				e = newRig(cfg)
				check(t, e, model, "j2", "a", "one")
			}
			if c.change {
				p.is("PERSONA-two")
				check(t, e, model, "j3", "a", "one", "two")
			}
			isFull.Store(true)
			want := []string{"one"}
			if c.change {
				want = []string{"one", "two"}
			}
			check(t, e, model, "j4", "a", want...)
			if !compacted.Load() {
				t.Fatal("the thread was not compacted")
			}
			check(t, e, model, "j5", "a", want...)
		})
	}
}

// TestInstructionsOverACompactionInMidTurn: the turn after it is told them again.
func TestInstructionsOverACompactionInMidTurn(t *testing.T) {
	t.Parallel()
	var compacted atomic.Bool
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case summarises(turn):
			compacted.Store(true)
			turn.Say("summary: the command has run")
		case compacted.Load():
			turn.Say("goes on")
		case len(turn.NewToolOutputs()) > 0:
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	})
	var p persona
	p.is("PERSONA-one")
	e := onCodex(t, model, func(c *config) { c.Instructions = p.now })
	check(t, e, model, "j1", "a", "one")
	p.is("PERSONA-two")
	submit(t, e, "j2", "a", "run echo once").wait(t)
	if got := spoken(model, "PERSONA-two"); !compacted.Load() || len(got) != 1 {
		t.Errorf("after the compaction (%t) the model reads %q", compacted.Load(), got)
	}
	check(t, e, model, "j3", "a", "one", "two")
}
