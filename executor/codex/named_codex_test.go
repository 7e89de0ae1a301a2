package codex_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// TestNamedModelBehindAnAttempt: a message whose model is not to be had is left out with the attempt at it
// that codex, or the runtime, has died over.
func TestNamedModelBehindAnAttempt(t *testing.T) {
	t.Parallel()
	for _, dies := range []string{"codex", "the runtime"} {
		t.Run(dies, func(t *testing.T) {
			t.Parallel()
			var hung atomic.Bool
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				switch {
				case !strings.Contains(string(turn.Body), `"model":"gpt-5.5"`):
					fakemodel.Keywords(turn)
				case hung.CompareAndSwap(false, true):
					turn.Hang()
				default:
					turn.Fail(http.StatusNotFound, `{"error":{"message":"no such model"}}`)
				}
			})
			cfg, book := codexConfig(t, model), &notebook{}
			cfg.Thread.Model, cfg.Journal = "gpt-6.1-sol", book
			e := running(t, cfg)
			submit(t, e, "j1", "one", "remember teal-7").wait(t)
			w := submitWith(t, e, "j2", "say two", agent.Options{Model: "gpt-5.5"})
			eventually(t, "the model to be asked", hung.Load)
			if dies == "codex" {
				killCodex(t, e)
			} else {
				e, w = startedAnew(t, e, cfg, book.last)
			}
			if end := w.wait(t); end.Failure == nil || !strings.Contains(end.Failure.Message, "will not read") {
				t.Errorf("it ends with %+v (%v)", end, end.Failure)
			}
			if end := submit(t, e, "j3", "one", "recall").wait(t); !strings.Contains(said(end), "teal-7") {
				t.Errorf("the next message ends with %+v (%v)", end, end.Failure)
			}
			requests := model.Requests()
			if strings.Contains(string(requests[len(requests)-1].Body), "say two") {
				t.Error("the model reads the message that was left out")
			}
		})
	}
}

// startedAnew ends e, and has another begin with j2, which that has cut.
func startedAnew(t *testing.T, e *rig, cfg config, last func(job string) *executor.Cut) (*rig, *witness) {
	t.Helper()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = running(t, cfg)
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: "j2", Context: "one", Input: []agent.Input{agent.Text("say two")}, Cut: last("j2"), Options: agent.Options{Model: "gpt-5.5"}}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatal(err)
	}
	return e, w
}

// TestNamedModelBehindACancel: a message that has named a model which does not answer was canceled, and codex asks
// that model for a summary before the next one; which may be canceled, too, or fail in passing.
func TestNamedModelBehindACancel(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(*fakemodel.Turn){
		"once": nil, "twice": (*fakemodel.Turn).Hang, "and a failure": func(turn *fakemodel.Turn) { turn.Fail(http.StatusBadGateway, "not now") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				switch named := strings.Contains(string(turn.Body), `"model":"gpt-5.5"`); {
				case !named:
					fakemodel.Keywords(turn)
				case asked.Add(1) == 1:
					turn.Hang()
				case asked.Load() == 2 && second != nil:
					second(turn)
				default:
					turn.Fail(http.StatusNotFound, `{"error":{"message":"no such model"}}`)
				}
			})
			e := onCodex(t, model, func(c *config) { c.Thread.Model = "gpt-6.1-sol" })
			submit(t, e, "j1", "one", "remember teal-7").wait(t)
			w := submitWith(t, e, "j2", "say two", agent.Options{Model: "gpt-5.5"})
			cancelOnceAsked(t, e, &asked, 1, "j2")
			w.wait(t)
			if second != nil {
				w = submit(t, e, "j3", "one", "say three")
				if name == "twice" {
					cancelOnceAsked(t, e, &asked, 2, "j3")
				}
				w.wait(t)
			}
			submit(t, e, "j4", "one", "recall").wait(t)
			if end := submit(t, e, "j5", "one", "recall").wait(t); !strings.Contains(said(end), "teal-7") {
				t.Errorf("the message after that ends with %+v (%v)", end, end.Failure)
			}
		})
	}
}

// cancelOnceAsked cancels a job once the model was asked n times.
func cancelOnceAsked(t *testing.T, e *rig, asked *atomic.Int32, n int32, id string) {
	t.Helper()
	eventually(t, "the model to be asked", func() bool { return asked.Load() >= n })
	if err := e.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// TestModelBeforeThatIsAway: a message that fails as the model of the turn before is away, which codex asks
// for a summary, stays; and so does one whose own model is away, behind a turn that was refused and left out.
func TestModelBeforeThatIsAway(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]func(named, away bool) bool{
		"that has answered": func(named, away bool) bool { return named && away },
		"that has refused":  func(named, away bool) bool { return named || away },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var away atomic.Bool
			e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
				if refuses(strings.Contains(string(turn.Body), `"model":"gpt-5.5"`), away.Load()) {
					turn.Fail(http.StatusNotFound, "not now")
					return
				}
				fakemodel.Keywords(turn)
			}), func(c *config) { c.Thread.Model = "gpt-6.1-sol" })
			submit(t, e, "j1", "one", "say one").wait(t)
			submitWith(t, e, "j2", "say two", agent.Options{Model: "gpt-5.5"}).wait(t)
			away.Store(true)
			if end := submit(t, e, "j3", "one", "remember teal-7").wait(t); end.Failure == nil || strings.Contains(end.Failure.Message, "will not read") {
				t.Errorf("the message ends with %+v (%v)", end.Outcome, end.Failure)
			}
		})
	}
}
