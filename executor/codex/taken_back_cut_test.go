package codex_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex: something dies where a message is taken back.

// TestMessageThatWasRefusedBefore: the end of its turn is found by the next process.
func TestMessageThatWasRefusedBefore(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	model, _, release := flagging(t)
	release()
	cfg := codexConfig(t, model)
	cfg.Journal = &notebook{}
	e := newRig(cfg)
	submit(t, e, "j1", "one", "background until [ -e over ]; do sleep 0.1; done").wait(t) // so that the turn stays
	submit(t, e, "j2", "one", "remember teal-7").wait(t)
	w := submit(t, e, "j3", "one", "say FLAGGED")
	w.wait(t)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = running(t, cfg)
	cut := &executor.Cut{ThreadID: seen[agent.Started](w)[0].ThreadID, Attempt: 1}
	if end := submitCut(t, e, "j3", "one", "say FLAGGED", cut).wait(t); end.Outcome != agent.Failed {
		t.Errorf("what was refused ends with %+v (%v)", end, end.Failure)
	}
	end := submit(t, e, "j4", "one", "recall").wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "teal-7") {
		t.Errorf("the message after it ends with %+v (%v)", end, end.Failure)
	}
}

// reverting is a wire that tells when a turn is to be taken out of the history.
type reverting struct {
	once sync.Once
	now  chan struct{}
}

func (w *reverting) Sent(line []byte) {
	if bytes.Contains(line, []byte(`"thread/revert"`)) {
		w.once.Do(func() { close(w.now) })
	}
}
func (*reverting) Started(int)     {}
func (*reverting) Received([]byte) {}
func (*reverting) Dropped(int64)   {}
func (*reverting) Ended(any)       {}

// TestCodexDiesAsATurnIsTakenOut: it is taken out by the next one, and what it had with it is told again.
func TestCodexDiesAsATurnIsTakenOut(t *testing.T) {
	t.Parallel()
	model, _, release := flagging(t)
	release()
	wire := &reverting{now: make(chan struct{})}
	var p persona
	p.is("PERSONA-one")
	var home string
	e := onCodex(t, model, func(c *config) {
		c.Instructions, c.Child.Wire, home = p.now, wire, homeOf(*c)
	})
	rollouts := func() (n int) {
		_ = filepath.WalkDir(filepath.Join(home, "sessions"), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return nil
		})
		return n
	}
	submit(t, e, "j1", "one", "say one").wait(t)
	p.is("PERSONA-two")
	before := rollouts()
	w := submit(t, e, "j2", "one", "say FLAGGED")
	<-wire.now
	eventually(t, "the history without it", func() bool { return rollouts() > before })
	killCodex(t, e)
	w.wait(t)
	end := submit(t, e, "j3", "one", "say three").wait(t)
	requests := model.Requests()
	if body := string(requests[len(requests)-1].Body); end.Outcome != agent.Completed || !strings.Contains(body, "PERSONA-two") {
		t.Errorf("the message after it ends with %+v (%v), and what the turn was told is told again: %t", end, end.Failure, strings.Contains(body, "PERSONA-two"))
	}
}

// TestInstructionsAfterACancel: a turn that was canceled has codex compact nothing, so what changed before it
// is not told again.
func TestInstructionsAfterACancel(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	var p persona
	p.is("PERSONA-one")
	e := onCodex(t, model, func(c *config) { c.Instructions = p.now })
	check(t, e, model, "j1", "a", "one")
	p.is("PERSONA-two")
	check(t, e, model, "j2", "a", "one", "two")
	asked := len(model.Requests())
	w := submit(t, e, "j3", "a", "hang")
	eventually(t, "the model to be asked", func() bool { return len(model.Requests()) > asked })
	if err := e.Cancel(t.Context(), "j3"); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	check(t, e, model, "j4", "a", "one", "two")
}

// TestRefusedBesideACommand: what would end a command that goes on stays until that has ended, and the
// failure says so.
func TestRefusedBesideACommand(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]agent.Options{"a text": {}, "a model": {Model: "gpt-5.5"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				switch body := string(turn.Body); {
				case strings.Contains(body, `"model":"gpt-5.5"`), strings.Contains(body, "FLAGGED") && options.Model == "":
					turn.Fail(http.StatusBadRequest, `{"error":{"message":"no","code":"invalid_prompt"}}`)
				default:
					fakemodel.Keywords(turn)
				}
			})
			var work string
			e := onCodex(t, model, func(c *config) { c.Thread.Model, work = "gpt-6.1-sol", c.Child.Dir })
			submit(t, e, "j1", "one", "background until [ -e stopnow ]; do sleep 0.1; done; touch over").wait(t)
			submit(t, e, "j2", "one", "remember teal-7").wait(t)
			for _, w := range []*witness{submitWith(t, e, "j3", "say FLAGGED", options), submit(t, e, "j4", "one", "recall")} {
				if end := w.wait(t); end.Outcome != agent.Failed || !strings.Contains(end.Failure.Message, "commands that the conversation has left running") {
					t.Errorf("what is refused, or behind it, ends with %+v (%v)", end, end.Failure)
				}
			}
			submit(t, e, "j5", "two", "run touch stopnow").wait(t)
			eventually(t, "the command to end", func() bool { _, err := os.Stat(filepath.Join(work, "over")); return err == nil })
			var end agent.Ended
			for n := 6; n < 16 && end.Outcome != agent.Completed; n++ { // codex hears of the command's end later
				end = submit(t, e, fmt.Sprint("j", n), "one", "recall").wait(t)
			}
			if end.Outcome != agent.Completed || !strings.Contains(said(end), "teal-7") {
				t.Errorf("the message after that ends with %+v (%v)", end, end.Failure)
			}
		})
	}
}
