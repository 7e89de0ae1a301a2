package codex_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex: what behind a fork is to be known of the thread that it is of.

// moving is an executor whose next one goes by another model provider.
type moving struct {
	*rig
	cfg           config
	book          *notebook
	before, after *modeltest.Model
}

func onTheMove(t *testing.T, before, after *modeltest.Model, change func(*config)) *moving {
	t.Helper()
	m := &moving{cfg: codexConfig(t, before), book: &notebook{}, before: before, after: after}
	m.cfg.Journal = m.book
	if change != nil {
		change(&m.cfg)
	}
	m.rig = running(t, m.cfg)
	return m
}

// again ends the executor, and begins another.
func (m *moving) again(t *testing.T) {
	t.Helper()
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.rig = running(t, m.cfg)
}

// move is again, by the other provider.
func (m *moving) move(t *testing.T) {
	t.Helper()
	m.cfg.Child.Args = otherProvider(m.cfg.Child.Args, m.before.BaseURL(), m.after.BaseURL(), true)
	m.cfg.Thread.ModelProvider = "other"
	m.again(t)
}

// TestCutBeforeAFork: a turn that another provider's codex has cut off is run again, if it had done nothing; and is
// found where many have come behind it.
func TestCutBeforeAFork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words  string
		behind int // how many turns have come behind it
		want   agent.Outcome
	}{
		"that did nothing":                    {"say two", 0, agent.Completed},
		"that has run a command":              {"run true", 0, agent.Interrupted},
		"that has run a command, behind many": {"run true", 6, agent.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var hung atomic.Bool
			before := modeltest.Start(t, func(turn *fakemodel.Turn) {
				if turn.LastUserText() != c.words || c.want == agent.Interrupted && len(turn.NewToolOutputs()) == 0 {
					fakemodel.Keywords(turn)
					return
				}
				hung.Store(true)
				turn.Hang()
			})
			m := onTheMove(t, before, modeltest.Start(t, fakemodel.Keywords), nil)
			submit(t, m.rig, "j1", "one", "remember teal-7").wait(t)
			submit(t, m.rig, "j2", "one", c.words)
			eventually(t, "the model to hang", hung.Load)
			if c.behind > 0 {
				m.again(t)
			}
			for n := range c.behind {
				submit(t, m.rig, fmt.Sprint("behind", n), "one", "say three").wait(t)
			}
			m.move(t)
			if end := submitCut(t, m.rig, "j2", "one", c.words, m.book.last("j2")).wait(t); end.Outcome != c.want {
				t.Errorf("it ends with %+v (%v), want %s", end, end.Failure, c.want)
			}
			recalls(t, m.rig)
		})
	}
}

// TestCutBeforeAnotherProvider: where tools are offered there is no fork, and it is found out all the same what
// became of the turn.
func TestCutBeforeAnotherProvider(t *testing.T) {
	t.Parallel()
	for words, c := range map[string]struct {
		hangs bool // before the model answers
		want  agent.Outcome
		says  string
	}{
		"say two":   {true, agent.Completed, "two"},
		"say three": {false, agent.Completed, "three"},
		"run true":  {true, agent.Interrupted, ""},
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			var hung atomic.Bool
			before := modeltest.Start(t, func(turn *fakemodel.Turn) {
				if turn.LastUserText() == words && c.hangs && (c.want == agent.Completed || len(turn.NewToolOutputs()) > 0) {
					hung.Store(true)
					turn.Hang()
					return
				}
				fakemodel.Keywords(turn)
			})
			m := onTheMove(t, before, modeltest.Start(t, fakemodel.Keywords), offers(&bench{answer: echo}, "list_peers"))
			submit(t, m.rig, "j1", "one", "say one").wait(t)
			w := submit(t, m.rig, "j2", "one", words)
			if c.hangs {
				eventually(t, "the model to hang", hung.Load)
			} else {
				w.wait(t)
			}
			m.move(t)
			end := submitCut(t, m.rig, "j2", "one", words, m.book.last("j2")).wait(t)
			if end.Outcome != c.want || said(end) != c.says && c.says != "" {
				t.Errorf("it ends with %+v (%v), said %q", end, end.Failure, said(end))
			}
			if end.Failure != nil && strings.Contains(end.Failure.Message, "the conversation is kept") {
				t.Errorf("it says %q", end.Failure.Message)
			}
			wantEnd(t, submit(t, m.rig, "j3", "one", "say next").wait(t), agent.Completed, "")
		})
	}
}

// TestUnansweredBeforeAFork: what was canceled may be why another provider refuses the next message.
func TestUnansweredBeforeAFork(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	before, held, _ := flagging(t)
	m := onTheMove(t, before, flags(t, fakemodel.Keywords), nil)
	submit(t, m.rig, "j1", "one", "remember teal-7").wait(t)
	canceled(t, m.rig, "j2", "say FLAGGED", held)
	m.move(t)
	if end := submit(t, m.rig, "j3", "one", "recall").wait(t); end.Failure == nil || !strings.Contains(end.Failure.Message, "those before it") {
		t.Errorf("the next message ends with %+v (%v)", end, end.Failure)
	}
	recalls(t, m.rig)
}

// TestForkOfATakenOver: a conversation that was taken over has no tools to lose.
func TestForkOfATakenOver(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := onTheMove(t, modeltest.Start(t, fakemodel.Keywords), modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		offers(&bench{answer: echo}, "list_peers")(c)
		theirs := execSession(t, *c, "remember teal-7")
		c.Journal = &notebook{attempts: []executor.Attempt{{Conversation: "one", Thread: theirs, Tools: codex.ForeignTools}}}
	})
	submit(t, m.rig, "j1", "one", "say one").wait(t)
	m.move(t)
	recalls(t, m.rig)
}
