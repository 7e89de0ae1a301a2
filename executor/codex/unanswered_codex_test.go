package codex_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex: what is in the way of the next messages, and is not the
// newest turn.

// TestUnansweredBehindOthers: what is refused beside a command is taken out when that has ended, whatever
// becomes of the messages in between.
func TestUnansweredBehindOthers(t *testing.T) {
	t.Parallel()
	const refuses, hangs = 1, 2
	for name, between := range map[string]func(t *testing.T, e *rig, does *atomic.Int32, stop func()){
		"it is let go of": func(t *testing.T, e *rig, _ *atomic.Int32, stop func()) {
			stop()
			for _, context := range []string{"two", "three"} {
				submit(t, e, context, context, "say hello").wait(t)
			}
		},
		"one is held": func(t *testing.T, e *rig, does *atomic.Int32, stop func()) {
			does.Store(refuses)
			w := submit(t, e, "j4", "one", "recall")
			eventually(t, "it to be held", func() bool { return len(seen[agent.Paused](w)) > 0 })
			stop()
			w.wait(t)
		},
		"codex dies over one": func(t *testing.T, e *rig, does *atomic.Int32, _ func()) {
			does.Store(hangs)
			w := submit(t, e, "j4", "one", "recall")
			eventually(t, "it to be read", func() bool { return does.Load() == 0 })
			killCodex(t, e)
			w.wait(t)
		},
		"one is canceled": func(t *testing.T, e *rig, does *atomic.Int32, stop func()) {
			does.Store(hangs)
			w := submit(t, e, "j4", "one", "recall")
			eventually(t, "it to be read", func() bool { return does.Load() == 0 })
			if err := e.Cancel(t.Context(), "j4"); err != nil {
				t.Fatal(err)
			}
			w.wait(t)
			stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			does := new(atomic.Int32)
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				switch {
				case does.CompareAndSwap(hangs, 0):
					turn.Hang()
				case does.CompareAndSwap(refuses, 0):
					unauthorized(turn)
				case strings.Contains(string(turn.Body), "FLAGGED"):
					turn.Fail(http.StatusBadRequest, `{"error":{"message":"no","code":"invalid_prompt"}}`)
				default:
					fakemodel.Keywords(turn)
				}
			})
			var work string
			e := onCodex(t, model, func(c *config) {
				c.MaxThreads, c.Journal, work = 1, &notebook{}, c.Child.Dir
				c.KeyVariable, c.LoginProbe = modeltest.KeyVar, 100*time.Millisecond
			})
			submit(t, e, "j1", "one", "background until [ -e stopnow ]; do sleep 0.1; done; touch over").wait(t)
			submit(t, e, "j2", "one", "remember teal-7").wait(t)
			submit(t, e, "j3", "one", "say FLAGGED").wait(t)
			between(t, e, does, func() {
				if err := os.WriteFile(filepath.Join(work, "stopnow"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the command to end", func() bool { _, err := os.Stat(filepath.Join(work, "over")); return err == nil })
			})
			recalls(t, e)
		})
	}
}

// recalls waits until a message is answered, which takes some tries where codex hears late of a command's
// end, and looks that what came before is known.
func recalls(t *testing.T, e *rig) {
	t.Helper()
	var end agent.Ended
	for n := 0; n < 10 && end.Outcome != agent.Completed; n++ {
		end = submit(t, e, "recall"+string(rune('a'+n)), "one", "recall").wait(t)
	}
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "teal-7") {
		t.Errorf("the message after it ends with %+v (%v)", end, end.Failure)
	}
}

// TestRefusedBehindACancel: a message that was canceled before the model had read it may be why the next
// one is refused.
func TestRefusedBehindACancel(t *testing.T) {
	t.Parallel()
	model, held, _ := flagging(t)
	e := onCodex(t, model, nil)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	w := submit(t, e, "j2", "one", "say FLAGGED")
	eventually(t, "the model to be asked", held.Load)
	if err := e.Cancel(t.Context(), "j2"); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	if end := submit(t, e, "j3", "one", "recall").wait(t); end.Failure == nil || !strings.Contains(end.Failure.Message, "those before it") {
		t.Errorf("the next message ends with %+v (%v)", end, end.Failure)
	}
	if end := submit(t, e, "j4", "one", "recall").wait(t); !strings.Contains(said(end), "teal-7") {
		t.Errorf("the one after that ends with %+v (%v)", end, end.Failure)
	}
}

// TestRefusedBehindAnAttemptThatWorked: what an attempt has done stays, whatever becomes of the others.
func TestRefusedBehindAnAttemptThatWorked(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var hung, compacted, refused atomic.Bool
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		switch {
		case summarises(turn):
			compacted.Store(true)
			turn.Say("summary: the command has run")
		case strings.Contains(turn.LastUserText(), "run echo once") && hung.CompareAndSwap(false, true):
			turn.Hang()
		case compacted.Load() && refused.CompareAndSwap(false, true):
			turn.Fail(http.StatusBadRequest, `{"error":{"message":"no","code":"invalid_prompt"}}`)
		case !compacted.Load() && len(turn.NewToolOutputs()) > 0:
			full(turn)
		default:
			fakemodel.Keywords(turn)
		}
	})
	e := onCodex(t, model, nil)
	w := submit(t, e, "j1", "one", "run echo once")
	eventually(t, "it to be read", hung.Load)
	killCodex(t, e)
	if end := w.wait(t); end.Outcome != agent.Failed || !refused.Load() {
		t.Errorf("the message ends with %+v (%v)", end, end.Failure)
	}
	submit(t, e, "j2", "one", "say two").wait(t)
	requests := model.Requests()
	if all := strings.Join(requests[len(requests)-1].UserTexts(), "|"); !strings.Contains(all, "the command has run") {
		t.Errorf("the model reads %q, and nothing of what was done", all)
	}
}
